// The opcodes whose dimensions are followed, by XLA's names (xla/hlo/ir/hlo_opcode.h). All others are OPCODE_OTHER:
// operands and result of the same dimensions correspond.
#pragma once

#include "proto/bytes.h"

enum opcode {
    OPCODE_OTHER,
    OPCODE_PARAMETER,
    OPCODE_CONSTANT,
    OPCODE_IOTA,
    OPCODE_TUPLE,
    OPCODE_GET_TUPLE_ELEMENT,
    OPCODE_FUSION,
    OPCODE_CALL,
    OPCODE_WHILE,
    OPCODE_CONDITIONAL,
    OPCODE_ASYNC_START,
    OPCODE_ASYNC_DONE,
    OPCODE_BROADCAST,
    OPCODE_TRANSPOSE,
    OPCODE_RESHAPE,
    OPCODE_BITCAST,
    OPCODE_CONVERT,
    OPCODE_COPY,
    OPCODE_COPY_START,
    OPCODE_COPY_DONE,
    OPCODE_REDUCE,
    OPCODE_DOT,
    OPCODE_CONVOLUTION,
    OPCODE_GATHER,
    OPCODE_SCATTER,
    OPCODE_FFT,       // the same rank; what is transformed may be of another size
    OPCODE_RESIZING,  // slice, pad, concatenate, ...: the same rank, some dimensions of another size
    OPCODE_DYNAMIC_SLICE,
    OPCODE_DYNAMIC_UPDATE_SLICE,
    OPCODE_SORT,
    OPCODE_CUSTOM_CALL,
    OPCODE_OUTFEED,  // and send: what the program hands to the host
};

enum opcode opcode_of(struct bytes name);
