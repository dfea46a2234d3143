#include "analysis/advice/array_shape.h"

#include "analysis/hlo/element_type.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

static const struct array_shape no_array = {.rank = ARRAY_NONE};

static void read_tile(struct bytes message, struct array_shape *shape) {
    int64_t sizes[ARRAY_RANK_MAX];
    int count = 0;
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != TILE_DIMENSIONS) continue;
        struct wire packed = wire_open_packed(&f);
        if (f.type == WIRE_VARINT && count < ARRAY_RANK_MAX) sizes[count++] = wire_int64(&f);
        for (uint64_t size; wire_next_varint(&packed, &size) && count < ARRAY_RANK_MAX;) sizes[count++] = (int64_t)size;
    }
    for (int i = 0; i < count; i++) {
        int64_t size = sizes[count - 1 - i];
        shape->tile[i] = size > 0 && size <= INT32_MAX ? (int32_t)size : 1;
    }
    shape->tile_rank = (uint8_t)count;
}

static void add_minor_to_major(struct array_shape *shape, int *count, uint64_t dimension) {
    if (*count < shape->rank && dimension < shape->rank) shape->minor_to_major[(*count)++] = (uint8_t)dimension;
}

static void read_layout(struct bytes message, struct array_shape *shape) {
    int count = 0;
    bool has_tile = false;
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == LAYOUT_TILES && f.type == WIRE_LEN && !has_tile) {
            has_tile = true;
            read_tile(f.payload, shape);
        }
        if (f.number != LAYOUT_MINOR_TO_MAJOR) continue;
        struct wire packed = wire_open_packed(&f);
        if (f.type == WIRE_VARINT) add_minor_to_major(shape, &count, f.value);
        for (uint64_t dimension; wire_next_varint(&packed, &dimension);) add_minor_to_major(shape, &count, dimension);
    }
}

// False for a dimension that is too large, or one too many.
static bool add_dimension(struct array_shape *shape, uint64_t dimension) {
    if (shape->rank >= ARRAY_RANK_MAX || dimension > INT32_MAX) return false;
    shape->minor_to_major[shape->rank] = 0;
    shape->dimensions[shape->rank++] = (int64_t)dimension;
    return true;
}

static bool read_dimensions(struct bytes message, struct array_shape *shape, struct bytes *layout) {
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == SHAPE_ELEMENT_TYPE) shape->element_type = (uint8_t)(f.value < 0xff ? f.value : 0xff);
        if (f.number == SHAPE_LAYOUT) *layout = f.payload;
        if (f.number != SHAPE_DIMENSIONS) continue;
        struct wire packed = wire_open_packed(&f);
        if (f.type == WIRE_VARINT && !add_dimension(shape, f.value)) return false;
        for (uint64_t dimension; wire_next_varint(&packed, &dimension);) {
            if (!add_dimension(shape, dimension)) return false;
        }
    }
    return !w.fault;
}

struct array_shape array_shape_read(struct bytes message) {
    struct array_shape shape = {0};
    struct bytes layout = {0};
    if (!read_dimensions(message, &shape, &layout)) return no_array;
    const struct element_type *type = element_type_of(shape.element_type);
    if (!type || !type->bits) return no_array;
    shape.element_bits = (uint8_t)type->bits;
    for (int i = 0; i < shape.rank; i++) shape.minor_to_major[i] = (uint8_t)(shape.rank - 1 - i);
    read_layout(layout, &shape);
    return shape;
}

static int64_t tile_for(int64_t size, int64_t tile) {
    int64_t fitting = 1;
    while (fitting < size && fitting < tile) fitting *= 2;
    return fitting < tile ? fitting : tile;
}

static int64_t padded_size(const struct array_shape *shape, int physical) {
    int64_t size = shape->dimensions[shape->minor_to_major[physical]];
    if (physical >= shape->tile_rank) return size;
    int64_t tile = physical == 0 ? shape->tile[0] : tile_for(size, shape->tile[physical]);
    return (size + tile - 1) / tile * tile;
}

int64_t array_padded_dimension(const struct array_shape *shape, int dimension) {
    for (int i = 0; i < shape->rank; i++) {
        if (shape->minor_to_major[i] == dimension) return padded_size(shape, i);
    }
    return shape->dimensions[dimension];
}

int64_t array_shape_bytes(const struct array_shape *shape) {
    int64_t bits = shape->element_bits;
    if (!array_is(shape)) return -1;
    for (int i = 0; i < shape->rank; i++) {
        if (__builtin_mul_overflow(bits, padded_size(shape, i), &bits)) return -1;
    }
    return bits / 8 + (bits % 8 != 0);
}

int64_t array_shape_least_bytes(const struct array_shape *shape) {
    int64_t least = array_shape_bytes(shape);
    for (int minor = 0; array_is(shape) && minor < shape->rank; minor++) {
        for (int second = 0; second < shape->rank; second++) {
            struct array_shape other = *shape;
            int at = 2;
            if (second == minor) continue;
            other.minor_to_major[0] = (uint8_t)minor;
            other.minor_to_major[1] = (uint8_t)second;
            for (int d = 0; d < shape->rank; d++) {
                if (d != minor && d != second) other.minor_to_major[at++] = (uint8_t)d;
            }
            int64_t bytes = array_shape_bytes(&other);
            if (bytes >= 0 && bytes < least) least = bytes;
        }
    }
    return least;
}

int64_t array_shape_elements(const struct array_shape *shape) {
    int64_t elements = 1;
    if (!array_is(shape)) return 0;
    for (int i = 0; i < shape->rank; i++) {
        if (__builtin_mul_overflow(elements, shape->dimensions[i], &elements)) return 0;
    }
    return elements;
}

bool array_same_dimensions(const struct array_shape *a, const struct array_shape *b) {
    if (a->rank != b->rank || !array_is(a)) return false;
    return memcmp(a->dimensions, b->dimensions, a->rank * sizeof a->dimensions[0]) == 0;
}
