// The buffer assignment of a text dump as two arrays. Private to hlo_text_*.
//
//     BufferAssignment:
//     allocation 38: size 1229312, page 0, preallocated-temp:          allocations[38], its values side by side
//      value: <47 copy-start{} @0> (size=512,offset=1228800): (...)     id 47, name "copy-start", index "", color 0
//      value: <54 sort.6{1} (phi) @0> (size=1183744,offset=0): s32[...] id 54, name "sort.6", index "1"
//
// Names and shapes are views into the text.
#pragma once

#include "analysis/hlo/hlo_text_scan.h"

struct hlo_text_value {
    struct bytes name;   // of the instruction
    struct bytes index;  // of the shape, inside its braces
    struct bytes whole;  // "sort.6{1}"
    struct bytes shape;
    int64_t id, color, size_bytes, offset;
};

struct hlo_text_allocation {
    int64_t index, size_bytes, color, parameter_number;
    bool is_parameter, is_constant, is_thread_local, maybe_live_out, is_temporary;
    size_t first_value, value_count;
};

struct hlo_text_assignment {
    struct hlo_text_allocation *allocations;
    size_t allocation_count;
    struct hlo_text_value *values;
    size_t value_count;
};

MUST_USE bool hlo_text_read_assignment(const struct hlo_text_file *file, struct arena *arena,
                                       struct hlo_text_assignment *assignment, struct error *error);
