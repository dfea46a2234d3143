// Which float32 arrays become bfloat16 when the inputs do: the types of the user's program followed through the
// compiled one.
//
//     w f32 --convert (the user's astype)--> bf16 --dot--> bf16 --convert (the user's)--> f32
//     narrow                                 stays                                        wide: stays float32
//
//     w f32 --convert (the compiler's own)--> bf16 --dot--> f32
//     narrow                                  narrow        narrow: the dot was a float32 one, and will be bfloat16
//
//     stack f32[12,..] --dynamic-slice--> f32[1,..] --convert--> bf16 --dynamic-update-slice--> bf16[12,..]
//     narrow                              narrow                 a part          a stacked copy: each layer casts its
//                                                                                weights, and keeps them
//
// A conversion is the user's when its op_name ends in convert_element_type. What is as large as an entry parameter of
// the state, or a turned copy of it, but is no activation, is a gradient or an update and follows the parameter.
// Adafactor's momentum stays.
#pragma once

#include "analysis/advice/program_roles.h"

enum type_class {
    TYPE_STAYS,   // constants, and what is bfloat16 or an integer already
    TYPE_NARROW,  // float32 now, bfloat16 then
    TYPE_WIDE,    // float32 by the user's word
};

enum cast_copy {
    CAST_COPY_NONE,
    CAST_COPY_OF_INPUT,
    CAST_COPY_OF_FETCHED,  // of what was fetched of the input first (fetched.h)
    CAST_COPY_STACKED,     // of the input's parts, which a loop's turns made
    CAST_COPY_OF_PART,     // of what one turn of a loop takes of the input: no copy of all of it
};

struct type_flow {
    uint8_t *classes;      // enum type_class of each leaf
    uint8_t *cast_copies;  // enum cast_copy: copies in bfloat16 of inputs, and what is made of those in float32 again
};

static inline bool type_flow_is_whole_copy(const struct type_flow *flow, uint32_t leaf) {
    return flow->cast_copies[leaf] != CAST_COPY_NONE && flow->cast_copies[leaf] != CAST_COPY_OF_PART;
}

// False at the arena's limit.
bool type_flow_run(const struct program_graph *graph, const struct program_roles *roles,
                   const struct dimension_flow *batch, struct arena *arena, struct type_flow *flow);

// Is it bfloat16 only because the compiler rounds for a product what the program computes in float32?
bool type_flow_is_rounded(const struct type_flow *flow, const struct program_graph *graph, uint32_t leaf);

// Is the operation a conversion that the source asked for? Those that the compiler adds have no such op_name.
bool type_flow_is_users_conversion(const struct graph_node *node);
