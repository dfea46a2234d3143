#include "analysis/hlo/parameter_sharding.h"

#include "proto/hlo_fields.h"
#include "proto/wire.h"

// Field numbers of xla/service/hlo.proto and xla/xla_data.proto that nobody else reads.
enum { MODULE_PARAMETER_SHARDINGS = 14, MODULE_DEVICE_ASSIGNMENT = 15 };
enum { ASSIGNMENT_COMPUTATION_COUNT = 2 };
enum { SHARDING_TYPE = 1, SHARDING_TYPE_REPLICATED = 0, SHARDING_TYPE_OTHER = 3 };

static int64_t varint_of(struct bytes message, uint32_t number, int64_t otherwise) {
    struct wire wire = wire_open(message);
    uint64_t value;
    return wire_find_varint(&wire, number, &value) ? (int64_t)value : otherwise;
}

int64_t partition_count(const struct hlo_module *module) {
    struct bytes program = wire_find_message(module->blob, HLO_PROTO_MODULE);
    struct bytes assignment = wire_find_message(program, MODULE_DEVICE_ASSIGNMENT);
    int64_t count = varint_of(assignment, ASSIGNMENT_COMPUTATION_COUNT, 1);
    return count > 1 ? count : 1;
}

enum parameter_sharding parameter_sharding_of(const struct hlo_module *module, int64_t parameter_number) {
    struct wire wire = wire_open(wire_find_message(module->blob, HLO_PROTO_MODULE));
    struct wire_field field;
    int64_t number = 0;
    while (wire_next(&wire, &field)) {
        if (field.number != MODULE_PARAMETER_SHARDINGS || field.type != WIRE_LEN) continue;
        if (number++ != parameter_number) continue;
        int64_t type = varint_of(field.payload, SHARDING_TYPE, SHARDING_TYPE_REPLICATED);
        if (type == SHARDING_TYPE_REPLICATED) return SHARDING_REPLICATED;
        return type == SHARDING_TYPE_OTHER ? SHARDING_DIVIDED : SHARDING_UNKNOWN;
    }
    return SHARDING_UNKNOWN;
}
