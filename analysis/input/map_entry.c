#include "analysis/input/map_entry.h"

#include "proto/xplane_fields.h"

bool map_entry_read(struct byte_source *source, const struct file_field *entry, int64_t *key, struct file_field *value,
                    struct error *error) {
    struct file_cursor cursor = file_cursor_inside(source, entry);
    struct file_field field;
    enum file_cursor_step step;
    *key = 0;
    *value = (struct file_field){.payload_offset = entry->payload_offset};
    while ((step = file_cursor_next(&cursor, &field, error)) == FILE_CURSOR_FIELD) {
        if (field.number == MAP_ENTRY_KEY && field.type == WIRE_VARINT) *key = (int64_t)field.value;
        if (field.number == MAP_ENTRY_VALUE && field.type == WIRE_LEN) *value = field;
    }
    return step == FILE_CURSOR_END;
}
