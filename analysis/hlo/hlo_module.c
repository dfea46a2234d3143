#include "analysis/hlo/hlo_module.h"

#include "proto/hlo_fields.h"
#include "proto/wire.h"

// Stops as soon as everything is there: the four come first in an instruction, and most of its bytes come after.
static struct hlo_instruction read_instruction(struct bytes message) {
    struct hlo_instruction result = {0};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (!(result.name.data && result.opcode.data && result.shape.data && result.metadata.data) &&
           wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        if (f.number == HLO_INSTRUCTION_NAME) result.name = f.payload;
        if (f.number == HLO_INSTRUCTION_OPCODE) result.opcode = f.payload;
        if (f.number == HLO_INSTRUCTION_SHAPE) result.shape = f.payload;
        if (f.number == HLO_INSTRUCTION_METADATA) result.metadata = f.payload;
    }
    return result;
}

static const struct hlo_long_instruction *long_instruction(const struct hlo_module *module, uint32_t instruction) {
    uint32_t index = module->instructions[instruction].long_index;
    return index == HLO_NONE ? NULL : &module->long_instructions[index];
}

struct hlo_instruction hlo_instruction_read(const struct hlo_module *module, uint32_t instruction) {
    if (instruction >= module->instruction_count) return (struct hlo_instruction){0};
    const struct hlo_long_instruction *known = long_instruction(module, instruction);
    return known ? known->instruction : read_instruction(module->instructions[instruction].message);
}

struct bytes hlo_instruction_backend_config(const struct hlo_module *module, uint32_t instruction) {
    struct bytes config = {0};
    if (instruction >= module->instruction_count) return config;
    struct wire w = wire_open(module->instructions[instruction].message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == HLO_INSTRUCTION_BACKEND_CONFIG && f.type == WIRE_LEN) config = f.payload;
    }
    return config;
}

struct hlo_metadata hlo_metadata_read(struct bytes metadata) {
    struct hlo_metadata result = {0};
    struct wire w = wire_open(metadata);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        switch (f.number) {
            case OP_METADATA_OP_NAME:
                result.op_name = f.payload;
                break;
            case OP_METADATA_SOURCE_FILE:
                result.source_file = f.payload;
                break;
            case OP_METADATA_SOURCE_LINE:
                result.source_line = wire_int32(&f);
                break;
            case OP_METADATA_STACK_FRAME_ID:
                result.stack_frame_id = wire_int32(&f);
                break;
            default:
                break;
        }
    }
    return result;
}

static size_t put_shape_index(int64_t *index, size_t capacity, size_t count, uint64_t value) {
    if (count < capacity) index[count] = (int64_t)value;
    return count + 1;
}

size_t hlo_buffer_shape_index(const struct hlo_buffer *buffer, int64_t *index, size_t capacity) {
    size_t count = 0;
    struct wire w = wire_open(buffer->defined_at);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number != LOCATION_SHAPE_INDEX) continue;
        if (f.type == WIRE_VARINT) count = put_shape_index(index, capacity, count, f.value);
        struct wire packed = wire_open_packed(&f);
        for (uint64_t value; wire_next_varint(&packed, &value);) {
            count = put_shape_index(index, capacity, count, value);
        }
    }
    return count;
}

struct hlo_metadata hlo_instruction_metadata(const struct hlo_module *module, uint32_t instruction,
                                             struct bytes metadata) {
    if (instruction >= module->instruction_count) return (struct hlo_metadata){0};
    const struct hlo_long_instruction *known = long_instruction(module, instruction);
    return known ? known->metadata : hlo_metadata_read(metadata);
}

struct hlo_long_instruction hlo_long_instruction_read(struct bytes message) {
    struct hlo_instruction instruction = read_instruction(message);
    return (struct hlo_long_instruction){instruction, hlo_metadata_read(instruction.metadata)};
}
