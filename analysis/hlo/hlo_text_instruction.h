// One instruction as XLA prints it, taken apart. Private to hlo_text_*.
//
//     ROOT %tanh.3 = f32[8]{0} tanh(%x, %y), dimensions={0}, metadata={op_name="jit(f)/tanh" stack_frame_id=3}
//           name     shape     opcode  operands              metadata
//
// Views into the line, escapes not undone.
#pragma once

#include "analysis/hlo/hlo_text_scan.h"

struct text_instruction {
    struct bytes name, shape, opcode;
    struct bytes operands;        // between the brackets
    struct bytes metadata;        // between the braces
    struct bytes backend_config;  // with its braces, or between its quotes
    struct bytes custom_call_target;
    int64_t tuple_index;           // of a get-tuple-element
    struct bytes computations[4];  // calls, to_apply, body, condition: whichever it has
    size_t computation_count;
    bool is_root;
};

// False when the line is no instruction.
bool text_instruction_parse(struct bytes line, struct text_instruction *instruction);

struct text_metadata {
    struct bytes op_name, source_file;
    int64_t source_line, stack_frame_id;
};

struct text_metadata text_metadata_parse(struct bytes metadata);

// The next "%name" of operands; false at the end.
bool text_operand_next(struct bytes *operands, struct bytes *name);
