// XLA's element types: PrimitiveType in xla/xla_data.proto (openxla/xla).
#pragma once

#include <stdint.h>

struct element_type {
    const char *name;  // as in a shape: "bf16"
    int bits;          // 0 for what has no size: tuple, token, opaque
};

enum {
    ELEMENT_TYPE_PRED = 1,
    ELEMENT_TYPE_S8 = 2,
    ELEMENT_TYPE_U8 = 6,
    ELEMENT_TYPE_U32 = 8,
    ELEMENT_TYPE_F16 = 10,
    ELEMENT_TYPE_F32 = 11,
    ELEMENT_TYPE_F64 = 12,
    ELEMENT_TYPE_TUPLE = 13,
    ELEMENT_TYPE_OPAQUE = 14,
    ELEMENT_TYPE_BF16 = 16,
    ELEMENT_TYPE_TOKEN = 17,
    ELEMENT_TYPE_S4 = 21,
    ELEMENT_TYPE_U4 = 22,
    ELEMENT_TYPE_BUFFER = 34,
};

// NULL for a number that names no type.
const struct element_type *element_type_of(int64_t number);
