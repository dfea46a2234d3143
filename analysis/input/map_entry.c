#include "analysis/input/map_entry.h"

#include "proto/xplane_fields.h"

bool map_entry_read(struct byte_source *source, const struct file_field *entry, int64_t *key, struct file_field *value,
                    struct error *error) {
    struct file_cursor cursor = file_cursor_inside(source, entry);
    struct file_field field;
    *key = 0;
    *value = (struct file_field){.payload_offset = entry->payload_offset};
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number == MAP_ENTRY_KEY && field.type == WIRE_VARINT) *key = (int64_t)field.value;
        if (field.number == MAP_ENTRY_VALUE && field.type == WIRE_LEN) *value = field;
    }
    return !cursor.has_failed;
}
