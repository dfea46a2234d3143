#include "analysis/program/opcode.h"

enum opcode opcode_of(struct bytes name) {
    static const struct {
        const char *name;
        enum opcode opcode;
    } table[] = {
        {"parameter", OPCODE_PARAMETER},
        {"get-tuple-element", OPCODE_GET_TUPLE_ELEMENT},
        {"fusion", OPCODE_FUSION},
        {"constant", OPCODE_CONSTANT},
        {"tuple", OPCODE_TUPLE},
        {"bitcast", OPCODE_BITCAST},
        {"convert", OPCODE_CONVERT},
        {"broadcast", OPCODE_BROADCAST},
        {"copy-start", OPCODE_COPY_START},
        {"copy-done", OPCODE_COPY_DONE},
        {"async-start", OPCODE_ASYNC_START},
        {"async-update", OPCODE_ASYNC_DONE},
        {"async-done", OPCODE_ASYNC_DONE},
        {"slice", OPCODE_RESIZING},
        {"custom-call", OPCODE_CUSTOM_CALL},
        {"convolution", OPCODE_CONVOLUTION},
        {"dot", OPCODE_DOT},
        {"copy", OPCODE_COPY},
        {"reduce", OPCODE_REDUCE},
        {"iota", OPCODE_IOTA},
        {"call", OPCODE_CALL},
        {"while", OPCODE_WHILE},
        {"conditional", OPCODE_CONDITIONAL},
        {"transpose", OPCODE_TRANSPOSE},
        {"reshape", OPCODE_RESHAPE},
        {"gather", OPCODE_GATHER},
        {"scatter", OPCODE_SCATTER},
        {"sort", OPCODE_SORT},
        {"pad", OPCODE_RESIZING},
        {"concatenate", OPCODE_RESIZING},
        {"dynamic-slice", OPCODE_DYNAMIC_SLICE},
        {"dynamic-update-slice", OPCODE_DYNAMIC_UPDATE_SLICE},
        {"reduce-window", OPCODE_RESIZING},
        {"fft", OPCODE_FFT},
        {"select-and-scatter", OPCODE_RESIZING},
        {"all-gather", OPCODE_RESIZING},
        {"reduce-scatter", OPCODE_RESIZING},
        {"all-to-all", OPCODE_RESIZING},
        {"outfeed", OPCODE_OUTFEED},
        {"send", OPCODE_OUTFEED},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (bytes_equal(name, bytes_of(table[i].name))) return table[i].opcode;
    }
    return OPCODE_OTHER;
}
