#include "analysis/hlo/element_type.h"
#include "analysis/hlo/shape.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

enum { POINTER_BYTES = 8 };

struct extent {
    int64_t element_type;
    uint64_t elements;  // product of the dimensions
    int64_t tuple_shapes;
    bool is_bad;
};

static void multiply(struct extent *extent, uint64_t dimension) {
    if (__builtin_mul_overflow(extent->elements, dimension, &extent->elements)) extent->is_bad = true;
}

static struct extent read_extent(struct bytes shape) {
    struct extent extent = {.elements = 1};
    struct wire w = wire_open(shape);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == SHAPE_ELEMENT_TYPE) extent.element_type = wire_int64(&f);
        if (f.number == SHAPE_TUPLE_SHAPES) extent.tuple_shapes++;
        if (f.number != SHAPE_DIMENSIONS) continue;
        if (f.type == WIRE_VARINT) multiply(&extent, f.value);
        struct wire packed = wire_open_packed(&f);
        for (uint64_t dimension; wire_next_varint(&packed, &dimension);) multiply(&extent, dimension);
        extent.is_bad |= packed.fault != NULL;
    }
    extent.is_bad |= w.fault != NULL;
    return extent;
}

// Element `index` of a tuple shape; the shape itself when there is no such element.
static struct bytes tuple_element(struct bytes shape, int64_t index) {
    struct wire w = wire_open(shape);
    struct wire_field f;
    for (int64_t i = 0; wire_next(&w, &f);) {
        if (f.number == SHAPE_TUPLE_SHAPES && f.type == WIRE_LEN && i++ == index) return f.payload;
    }
    return shape;
}

struct bytes shape_at(struct bytes shape, struct shape_path path) {
    for (size_t i = 0; i < path.count; i++) shape = tuple_element(shape, path.index[i]);
    return shape;
}

int64_t shape_unpadded_bytes(struct bytes shape) {
    struct extent extent = read_extent(shape);
    const struct element_type *type = element_type_of(extent.element_type);
    if (extent.is_bad || !type) return -1;
    if (extent.element_type == ELEMENT_TYPE_TUPLE) return extent.tuple_shapes * POINTER_BYTES;
    uint64_t bits;
    if (__builtin_mul_overflow(extent.elements, (uint64_t)type->bits, &bits) || bits > (uint64_t)INT64_MAX) return -1;
    return (int64_t)(bits / 8 + (bits % 8 != 0));
}
