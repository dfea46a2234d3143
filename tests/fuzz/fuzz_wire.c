// Any bytes: the wire cursor ends, stays inside, and its faults stick; and the file cursor over the same bytes sees the
// same fields, plain and where it faults.
#include <stdlib.h>

#include "analysis/input/file_cursor.h"
#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void check_varints(struct bytes message) {
    struct wire wire = wire_open(message);
    uint64_t value;
    size_t count = 0;
    while (wire_next_varint(&wire, &value)) count++;
    require(count <= message.size);
    require(wire.fault || wire.at == wire.end);
}

static void check_field(const struct wire_field *field, struct bytes message) {
    require(field->number >= 1 && field->number <= 0x1fffffff);
    require(field->type == WIRE_VARINT || field->type == WIRE_FIXED64 || field->type == WIRE_LEN ||
            field->type == WIRE_FIXED32);
    if (field->type != WIRE_LEN) return;
    require(field->payload.data >= message.data && field->payload.size <= message.size);
    require(field->payload.data + field->payload.size <= message.data + message.size);
    check_varints(field->payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes message = {data, size};
    struct error error;
    struct wire wire = wire_open(message);
    struct wire_field expected;
    struct file_field field;
    bool is_gzip = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;  // the source sees its content, not these bytes
    struct byte_source *source = byte_source_of_memory(message, "input", &error);
    require(source != NULL);
    struct file_cursor cursor = file_cursor_over(source);
    while (wire_next(&wire, &expected)) {
        check_field(&expected, message);
        if (is_gzip) continue;
        require(file_cursor_next(&cursor, &field, &error));
        require(field.number == expected.number && field.type == expected.type);
        require(field.type == WIRE_LEN || field.value == expected.value);
        require(field.type != WIRE_LEN ||
                (field.payload_size == expected.payload.size && data + field.payload_offset == expected.payload.data));
    }
    if (!is_gzip) {
        require(!file_cursor_next(&cursor, &field, &error));
        require(cursor.has_failed == (wire.fault != NULL));
        require(!wire.fault || (wire.at == data + error.offset && error.file[0] && error.message[0]));
        require(!field.is_cut || field.payload_offset + field.payload_size == size);
    }
    require(wire.fault || wire.at == wire.end);
    require(!wire_next(&wire, &expected));
    byte_source_close(source);
    return 0;
}
