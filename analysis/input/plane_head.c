#include "analysis/input/plane_head.h"

#include "analysis/base/growing_array.h"
#include "analysis/input/map_entry.h"
#include "proto/xplane_fields.h"

struct head_walk {
    struct byte_source *source;
    struct arena *arena;
    struct plane_head *head;
};

static bool too_much(struct head_walk *walk, uint64_t offset, const char *what, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, byte_source_path(walk->source), (int64_t)offset,
                    "no memory left for the %s of a plane", what);
}

static bool add_line(struct head_walk *walk, const struct file_field *field, struct error *error) {
    struct plane_head *head = walk->head;
    struct plane_line line = {field->payload_offset, field->payload_size};
    return (head->line_count < PLANE_MAX_LINES &&
            growing_array_add(walk->arena, head->lines, head->line_count, line)) ||
           too_much(walk, field->payload_offset, "lines", error);
}

static bool add_stat(struct head_walk *walk, const struct file_field *field, struct error *error) {
    struct plane_head *head = walk->head;
    return (head->own_stat_count < PLANE_MAX_STATS &&
            growing_array_add(walk->arena, head->own_stats, head->own_stat_count, *field)) ||
           too_much(walk, field->payload_offset, "stats", error);
}

// XEventMetadata and XStatMetadata agree in what is read here: 1 id, 2 name.
static bool read_name(struct head_walk *walk, const struct file_field *value, int64_t *id, struct bytes *name,
                      struct error *error) {
    struct file_cursor cursor = file_cursor_inside(walk->source, value);
    struct file_field field;
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number == XSTAT_METADATA_ENTRY_ID && field.type == WIRE_VARINT && *id == 0)
            *id = (int64_t)field.value;
        if (field.number != XSTAT_METADATA_NAME || field.type != WIRE_LEN) continue;
        if (field.payload_size > PLANE_NAME_MAX_BYTES) continue;
        if (!byte_source_load(walk->source, field.payload_offset, field.payload_size, PLANE_NAME_MAX_BYTES, walk->arena,
                              name, error))
            return false;
    }
    return !cursor.has_failed;
}

static bool add_name(struct head_walk *walk, struct metadata_names *names, const struct file_field *entry,
                     struct error *error) {
    struct file_field value;
    struct bytes name = {0};
    int64_t id;
    if (!map_entry_read(walk->source, entry, &id, &value, error)) return false;
    if (!read_name(walk, &value, &id, &name, error)) return false;
    uint32_t id_count = names->count;
    return (names->count < PLANE_MAX_NAMES && growing_array_add(walk->arena, names->ids, id_count, id) &&
            growing_array_add(walk->arena, names->names, names->count, name)) ||
           too_much(walk, entry->payload_offset, "names", error);
}

static bool read_field(struct head_walk *walk, const struct file_field *field, struct error *error) {
    if (field->type != WIRE_LEN) return true;
    switch (field->number) {
        case XPLANE_LINES:
            return add_line(walk, field, error);
        case XPLANE_EVENT_METADATA:
            return add_name(walk, &walk->head->events, field, error);
        case XPLANE_STAT_METADATA:
            return add_name(walk, &walk->head->stats, field, error);
        case XPLANE_STATS:
            return add_stat(walk, field, error);
        default:
            return true;
    }
}

static bool read_fields(struct head_walk *walk, struct file_cursor cursor, struct error *error) {
    struct file_field field;
    while (file_cursor_next(&cursor, &field, error)) {
        if (!read_field(walk, &field, error)) return false;
    }
    struct error ignored;
    if (cursor.has_failed && field.is_cut && field.number == XPLANE_LINES && field.type == WIRE_LEN)
        (void)!add_line(walk, &field, &ignored);
    return !cursor.has_failed;
}

static bool index_names(struct head_walk *walk, struct metadata_names *names, struct error *error) {
    if (!id_map_init(&names->by_id, walk->arena, names->count)) return too_much(walk, 0, "names", error);
    for (uint32_t i = 0; i < names->count; i++) (void)id_map_put(&names->by_id, names->ids[i], i);
    return true;
}

// Where the content ends with the plane, a line that runs past both was cut off.
static struct file_cursor cursor_over_plane(struct byte_source *source, uint64_t offset, uint64_t size) {
    struct file_cursor cursor = file_cursor_at(source, offset, size);
    struct error ignored;
    uint64_t reached = 0;
    bool is_read = byte_source_reach(source, cursor.end + 1, &reached, &ignored);
    if (!is_read || reached == cursor.end) cursor.end = UINT64_MAX;
    return cursor;
}

bool plane_head_read(struct byte_source *source, uint64_t offset, uint64_t size, struct arena *arena,
                     struct plane_head *head, struct error *error) {
    struct head_walk walk = {source, arena, head};
    struct error reason;
    *head = (struct plane_head){0};
    bool is_whole = read_fields(&walk, cursor_over_plane(source, offset, size), error);
    if (!index_names(&walk, &head->events, &reason) || !index_names(&walk, &head->stats, &reason)) {
        if (is_whole) *error = reason;
        *head = (struct plane_head){0};
        return false;
    }
    return is_whole;
}

struct bytes metadata_name(const struct metadata_names *names, int64_t id) {
    uint32_t index = id_map_get(&names->by_id, id);
    return index == ID_MAP_NONE ? (struct bytes){0} : names->names[index];
}

bool metadata_has_name(const struct metadata_names *names, struct bytes name) {
    for (uint32_t i = 0; i < names->count; i++) {
        if (bytes_equal(names->names[i], name)) return true;
    }
    return false;
}
