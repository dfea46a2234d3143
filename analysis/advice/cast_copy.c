#include "analysis/advice/cast_copy.h"

#include "analysis/hlo/element_type.h"

static bool is_f32_input_like(const struct advisor *advisor, uint32_t input, const struct array_shape *copy) {
    if (input == HLO_NONE) return false;
    const struct array_shape *shape = &advisor->graph.leaves[input];
    return shape->element_type == ELEMENT_TYPE_F32 && array_same_dimensions(shape, copy);
}

static bool lies_alike(const struct array_shape *a, const struct array_shape *b) {
    for (int i = 0; i < a->rank; i++) {
        if (a->minor_to_major[i] != b->minor_to_major[i]) return false;
    }
    return true;
}

// What takes more than the float32 input, or lies otherwise, is made of a bfloat16 input as well: so a TPU's
// convolution wants pictures of three channels, and its product of few rows the weight's columns in front.
bool cast_copy_is_needless(const struct advisor *advisor, uint32_t leaf) {
    const struct array_shape *copy = &advisor->graph.leaves[leaf];
    bool has_like = false;
    if (!advisor->types.cast_copies[leaf]) return false;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t input = advisor->roles.inputs[i].leaf;
        if (!is_f32_input_like(advisor, input, copy)) continue;
        const struct array_shape *from = &advisor->graph.leaves[input];
        if (array_shape_bytes(copy) <= array_shape_bytes(from) && lies_alike(copy, from)) return true;
        has_like = true;
    }
    return !has_like;
}
