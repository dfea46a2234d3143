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

// Of references; index 0 stays empty, for there is no reference to INVALID.
static const char *const ref_names[] = {
    "",
    "float_ref",
    "double_ref",
    "int32_ref",
    "uint8_ref",
    "int16_ref",
    "int8_ref",
    "string_ref",
    "complex64_ref",
    "int64_ref",
    "bool_ref",
    "qint8_ref",
    "quint8_ref",
    "qint32_ref",
    "bfloat16_ref",
    "qint16_ref",
    "quint16_ref",
    "uint16_ref",
    "complex128_ref",
    "half_ref",
    "resource_ref",
    "variant_ref",
    "uint32_ref",
    "uint64_ref",
    "float8_e5m2_ref",
    "float8_e4m3fn_ref",
    "float8_e4m3fnuz_ref",
    "float8_e4m3b11fnuz_ref",
    "float8_e5m2fnuz_ref",
    "int4_ref",
    "uint4_ref",
};

enum { NAME_COUNT = sizeof names / sizeof names[0] };

_Static_assert(sizeof names == sizeof ref_names, "every type has a reference type");

// A stat is an int64, the enum 32 bits wide: XProf drops the upper half.
static int32_t enum_of(int64_t data_type) {
    return (int32_t)(uint32_t)(uint64_t)data_type;
}

static const char *known_name(int32_t type) {
    if (type >= 0 && type < NAME_COUNT) return names[type];
    if (type > REF_OFFSET && type < REF_OFFSET + NAME_COUNT) return ref_names[type - REF_OFFSET];
    return NULL;
}

const char *data_type_name(int64_t data_type, char buffer[DATA_TYPE_NAME_BYTES]) {
    if (data_type == ALLOCATION_SITE_NO_DATA_TYPE) return "";
    int32_t type = enum_of(data_type);
    const char *known = known_name(type);
    if (known) return known;
    bool is_ref = type > REF_OFFSET;
    snprintf(buffer, DATA_TYPE_NAME_BYTES, "unknown dtype enum (%" PRId32 ")%s", is_ref ? type - REF_OFFSET : type,
             is_ref ? "_ref" : "");
    return buffer;
}

const char *allocation_site_data_type_name(int64_t data_type) {
    if (data_type == ALLOCATION_SITE_NO_DATA_TYPE) return "";
    const char *known = known_name(enum_of(data_type));
    return known ? known : "unknown dtype enum";
}
