#include "analysis/hlo/shape_array.h"

#include "analysis/hlo/element_type.h"
#include "analysis/hlo/shape_unpack.h"

enum { UNPACKED_MAX_BYTES = 64 << 10 };

// False for a dimension that is too large, or one too many.
static bool take_dimensions(const Hbmview__ShapeProto *from, struct array_shape *shape) {
    if (from->n_dimensions > ARRAY_RANK_MAX) return false;
    shape->rank = (uint8_t)from->n_dimensions;
    for (int i = 0; i < shape->rank; i++) {
        if (from->dimensions[i] < 0 || from->dimensions[i] > INT32_MAX) return false;
        shape->dimensions[i] = from->dimensions[i];
        shape->minor_to_major[i] = (uint8_t)(shape->rank - 1 - i);
    }
    return true;
}

static void take_layout(const Hbmview__LayoutProto *from, struct array_shape *shape) {
    int count = 0;
    for (size_t i = 0; i < from->n_minor_to_major && count < shape->rank; i++) {
        int64_t dimension = from->minor_to_major[i];
        if (dimension >= 0 && dimension < shape->rank) shape->minor_to_major[count++] = (uint8_t)dimension;
    }
    if (!from->n_tiles) return;
    const Hbmview__TileProto *tile = from->tiles[0];
    shape->tile_rank = (uint8_t)(tile->n_dimensions < ARRAY_RANK_MAX ? tile->n_dimensions : ARRAY_RANK_MAX);
    for (int i = 0; i < shape->tile_rank; i++) {
        int64_t size = tile->dimensions[shape->tile_rank - 1 - i];
        shape->tile[i] = size > 0 && size <= INT32_MAX ? (int32_t)size : 1;
    }
}

static bool take_array(const Hbmview__ShapeProto *from, struct array_shape *shape) {
    const struct element_type *type = from ? element_type_of(from->element_type) : NULL;
    if (!type || !type->bits || !take_dimensions(from, shape)) return false;
    shape->element_type = (uint8_t)from->element_type;
    shape->element_bits = (uint8_t)type->bits;
    if (from->layout) take_layout(from->layout, shape);
    return true;
}

struct array_shape array_shape_read(struct bytes message) {
    struct array_shape shape = {0};
    struct arena unpacked;
    arena_init(&unpacked, UNPACKED_MAX_BYTES);
    bool is_array = take_array(shape_unpack(message, &unpacked), &shape);
    arena_free(&unpacked);
    return is_array ? shape : (struct array_shape){.rank = ARRAY_NONE};
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

int64_t array_shape_bytes_turned(const struct array_shape *shape, int place) {
    struct array_shape turned = *shape;
    if (!array_is(shape) || shape->rank < place + 2) return array_shape_bytes(shape);
    turned.minor_to_major[place] = shape->minor_to_major[place + 1];
    turned.minor_to_major[place + 1] = shape->minor_to_major[place];
    return array_shape_bytes(&turned);
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
