// Small HloProtos for tests, in few words:
//
//     struct hlo_build b = {0};
//     hlo_build_instruction(&b, 1, "a", F32_8x128);            instruction 1, named "a"
//     hlo_build_buffer(&b, 10, 1, 4096, 0);                    logical buffer 10, defined by it, 4096 bytes, HBM
//     hlo_build_allocation(&b, (struct hlo_build_allocation){.size = 4096, .buffers = {10}});
//     hlo_build_event(&b, HLO_EVENT_ALLOC, 10, 0);             into the current trace
//     hlo_build_end_trace(&b);
//     struct bytes blob = hlo_build_finish(&b);                ... hlo_build_free(&b)
#pragma once

#include "analysis/hlo/hlo_load.h"
#include "proto/hlo_fields.h"
#include "tests/unit/wire_build.h"

struct hlo_build {
    struct wire_build computation, assignment, trace, blob;
};

enum { HLO_BUILD_BUFFERS_MAX = 8, ELEMENT_F32 = 11, ELEMENT_BF16 = 16, ELEMENT_TUPLE = 13 };

struct hlo_build_allocation {
    int64_t index, size, color;
    bool is_thread_local, is_parameter, is_live_out, is_constant;
    int64_t buffers[HLO_BUILD_BUFFERS_MAX];  // ends at 0
    int64_t offsets[HLO_BUILD_BUFFERS_MAX];
};

static inline struct wire_build hlo_build_array_shape(int element_type, const int64_t *dimensions, size_t rank) {
    struct wire_build shape = {0};
    wire_build_varint(&shape, SHAPE_ELEMENT_TYPE, (uint64_t)element_type);
    for (size_t i = 0; i < rank; i++) wire_build_varint(&shape, SHAPE_DIMENSIONS, (uint64_t)dimensions[i]);
    return shape;
}

// A vector of `elements` float32.
static inline void hlo_build_instruction(struct hlo_build *b, int64_t id, const char *name, int64_t elements) {
    struct wire_build instruction = {0}, shape = hlo_build_array_shape(ELEMENT_F32, &elements, 1);
    wire_build_text(&instruction, HLO_INSTRUCTION_NAME, name);
    wire_build_text(&instruction, HLO_INSTRUCTION_OPCODE, "add");
    wire_build_message(&instruction, HLO_INSTRUCTION_SHAPE, &shape);
    wire_build_varint(&instruction, HLO_INSTRUCTION_ID, (uint64_t)id);
    wire_build_message(&b->computation, HLO_COMPUTATION_INSTRUCTIONS, &instruction);
}

// One of the arrays that the instruction makes; index -1: the only one.
static inline void hlo_build_part(struct hlo_build *b, int64_t id, int64_t instruction, int64_t index, int64_t size,
                                  int64_t color) {
    struct wire_build buffer = {0}, location = {0};
    wire_build_varint(&location, LOCATION_INSTRUCTION_ID, (uint64_t)instruction);
    if (index >= 0) wire_build_varint(&location, LOCATION_SHAPE_INDEX, (uint64_t)index);
    wire_build_varint(&buffer, BUFFER_ID, (uint64_t)id);
    wire_build_varint(&buffer, BUFFER_SIZE, (uint64_t)size);
    wire_build_message(&buffer, BUFFER_DEFINED_AT, &location);
    wire_build_varint(&buffer, BUFFER_COLOR, (uint64_t)color);
    wire_build_message(&b->assignment, ASSIGNMENT_BUFFERS, &buffer);
}

static inline void hlo_build_buffer(struct hlo_build *b, int64_t id, int64_t instruction, int64_t size, int64_t color) {
    hlo_build_part(b, id, instruction, -1, size, color);
}

static inline void hlo_build_allocation(struct hlo_build *b, struct hlo_build_allocation a) {
    struct wire_build allocation = {0};
    wire_build_varint(&allocation, ALLOCATION_INDEX, (uint64_t)a.index);
    wire_build_varint(&allocation, ALLOCATION_SIZE, (uint64_t)a.size);
    wire_build_varint(&allocation, ALLOCATION_COLOR, (uint64_t)a.color);
    wire_build_varint(&allocation, ALLOCATION_IS_THREAD_LOCAL, a.is_thread_local);
    wire_build_varint(&allocation, ALLOCATION_IS_ENTRY_PARAMETER, a.is_parameter);
    wire_build_varint(&allocation, ALLOCATION_MAYBE_LIVE_OUT, a.is_live_out);
    wire_build_varint(&allocation, ALLOCATION_IS_CONSTANT, a.is_constant);
    for (size_t i = 0; i < HLO_BUILD_BUFFERS_MAX && a.buffers[i]; i++) {
        struct wire_build assigned = {0};
        wire_build_varint(&assigned, ASSIGNED_BUFFER_ID, (uint64_t)a.buffers[i]);
        wire_build_varint(&assigned, ASSIGNED_OFFSET, (uint64_t)a.offsets[i]);
        wire_build_message(&allocation, ALLOCATION_ASSIGNED, &assigned);
    }
    wire_build_message(&b->assignment, ASSIGNMENT_ALLOCATIONS, &allocation);
}

// An event whose instruction is `name`; `canonical` is for SHARE_WITH.
static inline void hlo_build_named_event(struct hlo_build *b, enum hlo_event_kind kind, int64_t buffer,
                                         int64_t canonical, const char *name) {
    struct wire_build event = {0};
    wire_build_varint(&event, EVENT_KIND, (uint64_t)kind);
    wire_build_varint(&event, EVENT_BUFFER_ID, (uint64_t)buffer);
    wire_build_text(&event, EVENT_INSTRUCTION_NAME, name);
    if (canonical) wire_build_varint(&event, EVENT_SHARE_WITH_CANONICAL_ID, (uint64_t)canonical);
    wire_build_message(&b->trace, TRACE_EVENTS, &event);
}

static inline void hlo_build_event(struct hlo_build *b, enum hlo_event_kind kind, int64_t buffer, int64_t canonical) {
    hlo_build_named_event(b, kind, buffer, canonical, "op");
}

// "A1 S3=1 F1": ALLOC of buffer 1, SHARE_WITH of 3 with it, FREE of 1.
static inline void hlo_build_events(struct hlo_build *b, const char *text) {
    for (const char *word = text; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
        int64_t buffer = word[1] - '0', canonical = word[2] == '=' ? word[3] - '0' : 0;
        enum hlo_event_kind kind = word[0] == 'A'   ? HLO_EVENT_ALLOC
                                   : word[0] == 'F' ? HLO_EVENT_FREE
                                                    : HLO_EVENT_SHARE_WITH;
        hlo_build_event(b, kind, buffer, canonical);
    }
}

static inline void hlo_build_end_trace(struct hlo_build *b) {
    wire_build_message(&b->assignment, ASSIGNMENT_TRACES, &b->trace);
}

// The blob, valid until hlo_build_free.
static inline struct bytes hlo_build_finish(struct hlo_build *b) {
    struct wire_build module = {0};
    wire_build_text(&b->computation, HLO_COMPUTATION_NAME, "main");
    wire_build_text(&module, HLO_MODULE_NAME, "jit_f");
    wire_build_text(&module, HLO_MODULE_ENTRY_COMPUTATION_NAME, "main");
    wire_build_message(&module, HLO_MODULE_COMPUTATIONS, &b->computation);
    wire_build_message(&b->blob, HLO_PROTO_MODULE, &module);
    wire_build_message(&b->blob, HLO_PROTO_BUFFER_ASSIGNMENT, &b->assignment);
    return wire_build_view(&b->blob);
}

static inline void hlo_build_free(struct hlo_build *b) {
    wire_build_free(&b->computation);
    wire_build_free(&b->assignment);
    wire_build_free(&b->trace);
    wire_build_free(&b->blob);
}
