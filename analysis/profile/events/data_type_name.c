#include "analysis/profile/events/data_type_name.h"

#include <inttypes.h>
#include <stdio.h>

enum { REF_OFFSET = 100 };  // DT_FLOAT_REF is DT_FLOAT + 100: the type of a reference to a variable

// By number: tensorflow/core/framework/types.proto.
static const char *const names[] = {
    "INVALID",
    "float",
    "double",
    "int32",
    "uint8",
    "int16",
    "int8",
    "string",
    "complex64",
    "int64",
    "bool",
    "qint8",
    "quint8",
    "qint32",
    "bfloat16",
    "qint16",
    "quint16",
    "uint16",
    "complex128",
    "half",
    "resource",
    "variant",
    "uint32",
    "uint64",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "int4",
    "uint4",
};

enum { NAME_COUNT = sizeof names / sizeof names[0] };

const char *data_type_name(int64_t data_type, char buffer[DATA_TYPE_NAME_BYTES]) {
    if (data_type == ALLOCATION_SITE_NO_DATA_TYPE) return "";
    int32_t type = (int32_t)(uint32_t)(uint64_t)data_type;  // the enum is 32 bits wide: XProf drops the upper half
    bool is_ref = type > REF_OFFSET;
    if (is_ref) type -= REF_OFFSET;
    bool is_known = type >= 0 && type < NAME_COUNT;
    if (is_known && !is_ref) return names[type];
    if (is_known)
        snprintf(buffer, DATA_TYPE_NAME_BYTES, "%s_ref", names[type]);
    else
        snprintf(buffer, DATA_TYPE_NAME_BYTES, "unknown dtype enum (%" PRId32 ")%s", type, is_ref ? "_ref" : "");
    return buffer;
}

const char *data_type_string(int64_t data_type, struct arena *arena) {
    char buffer[DATA_TYPE_NAME_BYTES];
    const char *name = data_type_name(data_type, buffer);
    const char *kept = name == buffer ? arena_string(arena, bytes_of(name)) : name;
    return kept ? kept : "";
}
