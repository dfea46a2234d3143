// The roles that program_roles.h finds for inputs, outputs and the program, and nothing of how.
#pragma once

#include "analysis/program/program_graph.h"

struct entry_input {
    uint32_t leaf;        // HLO_NONE where the number names no parameter
    uint32_t allocation;  // of the module, or HLO_NONE
    uint32_t mirror;      // output, or HLO_NONE
    bool is_donated;
    bool is_state;
    bool is_frozen;    // a weight that nobody trains
    bool is_packed;    // such a one, of bytes or halves of them
    bool is_followed;  // asked whether it is a stack: where a batch may be as large
    bool is_stack;     // a loop takes its first dimension one by one, as of layers
};

struct entry_output {
    uint32_t leaf;
    uint32_t mirror;  // input, or HLO_NONE
};

struct program_roles {
    struct entry_input *inputs;
    uint32_t input_count;
    struct entry_output *outputs;
    uint32_t output_count;
    bool is_training;
    int64_t batch;        // 0: not found
    bool is_batch_told;   // the user gave it
    bool is_graph;        // it counts the edges of a graph
    int64_t graphs;       // that are joined to that one; 0: no number of them shows
    int64_t graphs_most;  // where is_graph: at most so many were joined, by the edges and nodes there are; 1: it is one
    bool is_one_example;  // `batch` is its length
    int batch_dimension;  // of that input
    uint32_t batch_input;  // the input that tells it, or HLO_NONE
};

// How many there are of what can be divided: examples, or the graphs that are joined to one.
static inline int64_t program_roles_examples(const struct program_roles *roles) {
    if (roles->is_one_example) return 1;
    return roles->graphs ? roles->graphs : roles->batch;
}
