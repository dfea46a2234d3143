// A program as a graph of arrays: who computes what from what. Read from the same blob as the module, when advice is
// asked for; loading a module does not pay for it.
//
//     nodes   %p = f32[8,16]     %t = (f32[8], bf16[4,2])      %f = fusion(%p), calls=%body
//             leaf 0             leaf 1   leaf 2               operands -> nodes, called -> computations
//
// Node i is the module's instruction i. A leaf is one array of a node: a tuple has one for each array inside, nested
// ones in order. Computations name their nodes (a range), their root and, by number, their parameters.
// Ids that name nothing become HLO_NONE. Immutable; lives on the caller's arena; views into the module's blob.
#pragma once

#include "analysis/hlo/shape_array.h"
#include "analysis/program/opcode.h"
#include "analysis/hlo/hlo_module.h"

struct graph_elements {     // of a tuple; count 0 for an array
    uint32_t first, count;  // into elements
};

struct graph_element {
    uint32_t leaf;                 // the first one inside
    struct graph_elements inside;  // of a tuple in the tuple
};

struct graph_node {
    enum opcode opcode;
    uint32_t computation;
    uint32_t first_operand, operand_count;  // into operands
    uint32_t first_called, called_count;    // into called
    uint32_t first_leaf, leaf_count;
    struct graph_elements elements;
    int64_t number;  // of a parameter, or the index of a get-tuple-element
    struct bytes message;
    struct bytes op_name;
};

struct graph_computation {
    uint32_t first_node, node_count;
    uint32_t root;                              // or HLO_NONE
    uint32_t first_parameter, parameter_count;  // into parameters: node by parameter number, or HLO_NONE
    bool is_entry;
};

struct graph_walk {   // graph_walk.h
    uint32_t *nodes;  // each node once, callers twice; none before it is made
    uint32_t count;
};

struct program_graph {
    const struct hlo_module *module;
    struct graph_node *nodes;
    uint32_t node_count;
    uint32_t *operands;
    uint32_t operand_count;
    uint32_t *called;
    uint32_t called_count;
    struct graph_element *elements;
    uint32_t element_count;
    struct array_shape *leaves;
    uint32_t *node_of_leaf;
    uint32_t leaf_count;
    struct graph_computation *computations;
    uint32_t computation_count;
    uint32_t *parameters;
    uint32_t parameter_count;
    uint32_t entry;  // computation, or HLO_NONE
    struct graph_walk walk;
    struct id_map node_by_id, computation_by_id;
    struct bytes schedule;     // HloScheduleProto
    uint32_t *leaf_of_buffer;  // of the module's buffers, or HLO_NONE (a tuple's table)
};

MUST_USE bool program_graph_read(const struct hlo_module *module, struct arena *arena, struct program_graph *graph,
                                 struct error *error);

static inline uint32_t graph_operand(const struct program_graph *graph, const struct graph_node *node, uint32_t i) {
    return i < node->operand_count ? graph->operands[node->first_operand + i] : HLO_NONE;
}

// The parameter node of a computation; HLO_NONE when there is none of that number.
static inline uint32_t graph_parameter(const struct program_graph *graph, uint32_t computation, uint32_t number) {
    const struct graph_computation *c = &graph->computations[computation];
    return number < c->parameter_count ? graph->parameters[c->first_parameter + number] : HLO_NONE;
}
