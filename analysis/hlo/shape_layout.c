#include "analysis/hlo/element_type.h"
#include "analysis/hlo/shape.h"
#include "analysis/hlo/shape_unpack.h"

// The dimensions that the first tile covers are the most minor ones, its last entry the most minor:
//     f32[300000,3]{0,1:T(4,128)}   minor-to-major 0,1: dimension 0 gets 128, dimension 1 gets 4
// (xla/shape_util.cc and "Tiled layout" in XLA's documentation). Later tiles subdivide the first and pad no further,
// unless they are larger than what is there: bf16 T(8,128)(2,1) packs two rows of the eight.
static void apply_tile(const Hbmview__LayoutProto *layout, struct shape_layout *out) {
    if (!layout->n_tiles) return;
    const Hbmview__TileProto *tile = layout->tiles[0];
    for (size_t i = 0; i < tile->n_dimensions && i < layout->n_minor_to_major; i++) {
        int64_t size = tile->dimensions[tile->n_dimensions - 1 - i];
        int64_t dimension = layout->minor_to_major[i];
        if (size < 1 || dimension < 0 || (uint64_t)dimension >= out->dimension_count) return;
        struct shape_dimension *padded = &out->dimensions[dimension];
        int64_t tiles = padded->size / size + (padded->size % size != 0);
        padded->tile = size;
        if (__builtin_mul_overflow(tiles, size, &padded->padded)) padded->padded = padded->size;
    }
}

bool shape_layout_read(struct bytes shape, struct arena *arena, struct shape_layout *layout) {
    *layout = (struct shape_layout){.element_type = ""};
    const Hbmview__ShapeProto *unpacked = shape_unpack(shape, arena);
    const struct element_type *type = unpacked ? element_type_of(unpacked->element_type) : NULL;
    if (!type || !type->bits) return true;
    layout->element_type = type->name;
    layout->element_bits = type->bits;
    layout->dimension_count = unpacked->n_dimensions;
    layout->dimensions = arena_new(arena, struct shape_dimension, layout->dimension_count);
    if (!layout->dimensions) return false;
    for (size_t i = 0; i < layout->dimension_count; i++) {
        int64_t size = unpacked->dimensions[i];
        layout->dimensions[i] = (struct shape_dimension){.size = size, .padded = size, .tile = 1};
    }
    if (unpacked->layout) apply_tile(unpacked->layout, layout);
    return true;
}
