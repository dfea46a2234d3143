#include "analysis/profile/events/module_runs.h"

#include "analysis/base/growing_array.h"
#include "analysis/input/line_reader.h"
#include "analysis/input/plane_head.h"
#include "proto/xplane_fields.h"

struct runs_walk {
    struct byte_source *source;
    struct arena *arena;
    struct module_run_list *list;
    struct line_reader reader;
    struct plane_head head;
    struct bytes device;
};

static bool too_many(struct runs_walk *walk, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, byte_source_path(walk->source), (int64_t)line_reader_at(&walk->reader),
                    "no memory left for the runs of XLA modules");
}

static bool add_run(struct runs_walk *walk, struct bytes message, int64_t line_begin_ns, struct error *error) {
    struct module_run_list *list = walk->list;
    struct wire w = wire_open(message);
    struct wire_field field;
    int64_t id = 0, offset = 0, duration = 0, end;
    while (wire_next(&w, &field)) {
        if (field.type != WIRE_VARINT) continue;
        if (field.number == XEVENT_METADATA_ID) id = (int64_t)field.value;
        if (field.number == XEVENT_OFFSET_PS) offset = (int64_t)field.value;
        if (field.number == XEVENT_DURATION_PS) duration = (int64_t)field.value;
    }
    if (__builtin_add_overflow(offset, duration, &end)) end = INT64_MAX;
    struct module_run run = {metadata_name(&walk->head.events, id), walk->device, offset, end, 0};
    size_t begin_count = list->count;
    bool is_kept = list->count < MODULE_RUNS_MAX &&
                   growing_array_add(walk->arena, list->line_begin_ns, begin_count, line_begin_ns) &&
                   growing_array_add(walk->arena, list->runs, list->count, run);
    return is_kept || too_many(walk, error);
}

// Names and times stand before the events of a line: so does every writer of protobuf.
static bool read_line(struct runs_walk *walk, const struct plane_line *line, struct error *error) {
    struct wire_field field;
    enum line_reader_step step;
    bool is_modules = false;
    int64_t begin_ns = 0;
    line_reader_open(&walk->reader, line->offset, line->size_bytes);
    while ((step = line_reader_next(&walk->reader, &field, error)) <= LINE_READER_TOO_LONG) {
        if (field.number == XLINE_NAME && field.type == WIRE_LEN)
            is_modules = bytes_equal(field.payload, BYTES("XLA Modules"));
        if (field.number == XLINE_TIMESTAMP_NS && field.type == WIRE_VARINT) begin_ns = (int64_t)field.value;
        if (field.number != XLINE_EVENTS) continue;
        if (!is_modules) return true;
        if (step == LINE_READER_FIELD && !add_run(walk, field.payload, begin_ns, error)) return false;
    }
    return step == LINE_READER_END;
}

static bool read_plane(struct runs_walk *walk, const struct xspace_plane *plane, struct error *error) {
    struct bytes prefix = BYTES("/device:");
    walk->device = (struct bytes){plane->name.data + prefix.size, plane->name.size - prefix.size};
    char *copy = arena_string(walk->arena, walk->device);
    if (!copy) return too_many(walk, error);
    walk->device.data = (const uint8_t *)copy;
    if (!plane_head_read(walk->source, plane->offset, plane->size_bytes, walk->arena, &walk->head, error)) return false;
    for (uint32_t i = 0; i < walk->head.line_count; i++) {
        if (!read_line(walk, &walk->head.lines[i], error)) return false;
    }
    return true;
}

bool module_runs_read(struct byte_source *source, const struct xspace_index *index, struct arena *arena,
                      struct module_run_list *list, struct error *error) {
    struct runs_walk walk = {.source = source, .arena = arena, .list = list};
    struct arena scratch;
    struct error reason;
    bool is_whole = true;
    arena_init(&scratch, 0);
    *list = (struct module_run_list){0};
    for (size_t i = 0; i < index->plane_count; i++) {
        if (!bytes_starts_with(index->planes[i].name, BYTES("/device:TPU:"))) continue;
        if (!walk.reader.window && !line_reader_init(&walk.reader, source, &scratch)) {
            is_whole = too_many(&walk, error);
            break;
        }
        if (read_plane(&walk, &index->planes[i], &reason)) continue;
        if (is_whole) *error = reason;
        is_whole = false;
    }
    arena_free(&scratch);
    return is_whole;
}
