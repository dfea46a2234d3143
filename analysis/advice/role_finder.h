// What the steps that find a program's roles work on (program_roles.h), and what they ask of its inputs.
#pragma once

#include "analysis/advice/dimension_flow.h"
#include "analysis/advice/roles.h"
#include "analysis/hlo/element_type.h"

struct finder {
    const struct program_graph *graph;
    struct program_roles *roles;
    struct dimension_flow *flow;
    int followed;  // inputs that were followed alone, to see whether they are stacks
};

static inline const struct array_shape *input_shape(const struct finder *f, uint32_t input) {
    return &f->graph->leaves[f->roles->inputs[input].leaf];
}

// Numbers of words, of rows, of classes; eight bits with a sign are weights or caches that were quantized.
static inline bool is_integer(const struct finder *f, uint32_t input) {
    enum { PRED = 1, U64 = 9 };
    int type = input_shape(f, input)->element_type;
    return type >= PRED && type <= U64 && type != ELEMENT_TYPE_S8;
}

static inline bool is_floating(const struct finder *f, uint32_t input) {
    int type = input_shape(f, input)->element_type;
    return (type >= ELEMENT_TYPE_F16 && type <= ELEMENT_TYPE_F64) || type == ELEMENT_TYPE_BF16;
}

// Neither trained, nor does it follow the batch.
static inline bool is_other(const struct finder *f, uint32_t input) {
    const struct entry_input *in = &f->roles->inputs[input];
    return in->leaf != HLO_NONE && !in->is_state && !f->flow->marks[in->leaf] && array_is(input_shape(f, input));
}

static inline bool is_other_array(const struct finder *f, uint32_t input) {
    return is_other(f, input) && input_shape(f, input)->rank >= 2;
}

static inline bool has_rows_of_numbers(const struct finder *f, uint32_t input) {
    return is_other_array(f, input) && is_floating(f, input);
}
