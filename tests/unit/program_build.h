// Small programs with operands, bodies and sources, for tests that follow them:
//
//     struct program_build b = {0};
//     program_build_node(&b, (struct program_node){.id = 1, .name = "p", .opcode = "parameter", .op_name = "x"});
//     program_build_node(&b, (struct program_node){.id = 2, .name = "c", .opcode = "copy", .operands = {1}});
//     program_build_end(&b, 10, 2);                          computation 10, its root is 2; the last one is the entry
//     hlo_build_buffer(&b.hlo, ...);                         buffers, allocations and events as in hlo_build.h
//     struct bytes blob = program_build_finish(&b);          ... program_build_free(&b)
#pragma once

#include "tests/unit/hlo_build.h"

enum { PROGRAM_OPERANDS_MAX = 4, PROGRAM_CALLED_MAX = 2 };

struct program_node {
    int64_t id;
    const char *name, *opcode;
    int64_t operands[PROGRAM_OPERANDS_MAX], called[PROGRAM_CALLED_MAX];  // ids; end at 0
    int64_t number;                                                      // of a parameter, or a tuple's element
    int elements;                                                        // of its tuple; 0: an array
    const char *op_name, *file, *backend_config;
    int line;
};

struct program_build {
    struct hlo_build hlo;
    struct wire_build nodes, computations, blob;
    int64_t entry;
};

static inline struct wire_build program_build_shape(int elements) {
    int64_t dimension = 8;
    if (!elements) return hlo_build_array_shape(ELEMENT_F32, &dimension, 1);
    struct wire_build tuple = {0};
    wire_build_varint(&tuple, SHAPE_ELEMENT_TYPE, ELEMENT_TUPLE);
    for (int i = 0; i < elements; i++) {
        struct wire_build element = hlo_build_array_shape(ELEMENT_F32, &dimension, 1);
        wire_build_message(&tuple, SHAPE_TUPLE_SHAPES, &element);
    }
    return tuple;
}

static inline void program_build_node(struct program_build *b, struct program_node node) {
    struct wire_build message = {0}, metadata = {0}, shape = program_build_shape(node.elements);
    wire_build_text(&message, HLO_INSTRUCTION_NAME, node.name);
    wire_build_text(&message, HLO_INSTRUCTION_OPCODE, node.opcode);
    wire_build_message(&message, HLO_INSTRUCTION_SHAPE, &shape);
    if (node.op_name) wire_build_text(&metadata, OP_METADATA_OP_NAME, node.op_name);
    if (node.backend_config) wire_build_text(&message, HLO_INSTRUCTION_BACKEND_CONFIG, node.backend_config);
    if (node.file) wire_build_text(&metadata, OP_METADATA_SOURCE_FILE, node.file);
    if (node.line) wire_build_varint(&metadata, OP_METADATA_SOURCE_LINE, (uint64_t)node.line);
    wire_build_message(&message, HLO_INSTRUCTION_METADATA, &metadata);
    bool is_parameter = strcmp(node.opcode, "parameter") == 0;
    wire_build_varint(&message, is_parameter ? HLO_INSTRUCTION_PARAMETER_NUMBER : HLO_INSTRUCTION_TUPLE_INDEX,
                      (uint64_t)node.number);
    wire_build_varint(&message, HLO_INSTRUCTION_ID, (uint64_t)node.id);
    for (int i = 0; i < PROGRAM_OPERANDS_MAX && node.operands[i]; i++)
        wire_build_varint(&message, HLO_INSTRUCTION_OPERAND_IDS, (uint64_t)node.operands[i]);
    for (int i = 0; i < PROGRAM_CALLED_MAX && node.called[i]; i++)
        wire_build_varint(&message, HLO_INSTRUCTION_CALLED_COMPUTATION_IDS, (uint64_t)node.called[i]);
    wire_build_message(&b->nodes, HLO_COMPUTATION_INSTRUCTIONS, &message);
}

static inline void program_build_end(struct program_build *b, int64_t id, int64_t root) {
    wire_build_varint(&b->nodes, HLO_COMPUTATION_ID, (uint64_t)id);
    wire_build_varint(&b->nodes, HLO_COMPUTATION_ROOT_ID, (uint64_t)root);
    wire_build_message(&b->computations, HLO_MODULE_COMPUTATIONS, &b->nodes);
    b->entry = id;
}

// The blob, valid until program_build_free.
static inline struct bytes program_build_finish(struct program_build *b) {
    wire_build_text(&b->computations, HLO_MODULE_NAME, "jit_f");
    wire_build_varint(&b->computations, HLO_MODULE_ENTRY_COMPUTATION_ID, (uint64_t)b->entry);
    wire_build_message(&b->blob, HLO_PROTO_MODULE, &b->computations);
    wire_build_message(&b->blob, HLO_PROTO_BUFFER_ASSIGNMENT, &b->hlo.assignment);
    return wire_build_view(&b->blob);
}

static inline void program_build_free(struct program_build *b) {
    hlo_build_free(&b->hlo);
    wire_build_free(&b->nodes);
    wire_build_free(&b->computations);
    wire_build_free(&b->blob);
}
