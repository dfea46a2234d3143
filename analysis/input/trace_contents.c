#include "analysis/input/trace_contents.h"

#include "analysis/base/growing_array.h"
#include "analysis/input/plane_head.h"
#include "proto/xplane_fields.h"

enum { SCRATCH_LIMIT_BYTES = 256 << 20 };

struct contents_walk {
    struct byte_source *source;
    struct arena *arena;  // of the contents
    struct trace_contents *contents;
};

// What one stat of a plane says: a number, a text, or a text that is the name of another stat.
struct plane_stat {
    int64_t id, name_id;
    uint64_t number;
    struct bytes text;
};

// What stands before damage. False where the system refuses a read.
static bool read_stat(struct contents_walk *walk, const struct file_field *from, struct plane_stat *stat,
                      struct error *error) {
    struct file_cursor cursor = file_cursor_inside(walk->source, from);
    struct file_field field;
    *stat = (struct plane_stat){0};
    error->code = ERROR_NONE;
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number == XSTAT_METADATA_ID && field.type == WIRE_VARINT) stat->id = (int64_t)field.value;
        if (field.number == XSTAT_REF_VALUE && field.type == WIRE_VARINT) stat->name_id = (int64_t)field.value;
        if ((field.number == XSTAT_UINT64_VALUE || field.number == XSTAT_INT64_VALUE) && field.type == WIRE_VARINT)
            stat->number = field.value;
        if (field.number == XSTAT_STR_VALUE && field.type == WIRE_LEN &&
            !byte_source_load(walk->source, field.payload_offset, field.payload_size, TRACE_TYPE_MAX_BYTES, walk->arena,
                              &stat->text, error) &&
            error->code == ERROR_UNREADABLE)
            return false;
    }
    return error->code != ERROR_UNREADABLE;
}

static struct bytes keep_text(struct arena *arena, struct bytes text) {
    const char *kept = text.size <= TRACE_TYPE_MAX_BYTES ? arena_string(arena, text) : NULL;
    return kept ? bytes_of(kept) : (struct bytes){0};
}

static bool add_device(struct contents_walk *walk, const struct xspace_plane *plane, const struct plane_head *head,
                       struct error *error) {
    struct trace_contents *contents = walk->contents;
    struct trace_device device = {.plane = keep_text(walk->arena, plane->name)};
    for (uint32_t i = 0; i < head->own_stat_count; i++) {
        struct plane_stat stat;
        if (!read_stat(walk, &head->own_stats[i], &stat, error)) return false;
        struct bytes name = metadata_name(&head->stats, stat.id);
        if (bytes_equal(name, BYTES("memory_size")) && stat.number <= INT64_MAX)
            device.memory_bytes = (int64_t)stat.number;
        if (bytes_equal(name, BYTES("device_type_string")))
            device.type = stat.text.size ? stat.text
                                         : keep_text(walk->arena, metadata_name(&head->stats, stat.name_id));
    }
    if ((!device.memory_bytes && !device.type.size) || contents->device_count >= TRACE_MAX_DEVICES) return true;
    return growing_array_add(walk->arena, contents->devices, contents->device_count, device) ||
           error_set(error, ERROR_TOO_BIG, "no memory left for the devices of a trace");
}

static void look_for_memory_events(struct contents_walk *walk, const struct plane_head *head) {
    if (metadata_has_name(&head->events, BYTES("MemoryAllocation")) ||
        metadata_has_name(&head->events, BYTES("MemoryDeallocation")))
        walk->contents->has_memory_events = true;
}

static bool look_at_plane(struct contents_walk *walk, const struct xspace_plane *plane, struct error *error) {
    static const char device_prefix[] = "/device:";
    bool is_host = bytes_equal(plane->name, BYTES("/host:CPU"));
    bool is_device = bytes_starts_with(plane->name, bytes_of(device_prefix));
    struct arena scratch;
    struct plane_head head;
    if (!is_host && !is_device) return true;
    arena_init(&scratch, SCRATCH_LIMIT_BYTES);
    bool is_good = plane_head_read(walk->source, plane->offset, plane->size_bytes, &scratch, &head, error) ||
                   error->code != ERROR_UNREADABLE;
    if (is_host) look_for_memory_events(walk, &head);
    is_good = is_good && (!is_device || add_device(walk, plane, &head, error));
    arena_free(&scratch);
    return is_good;
}

bool trace_contents_read(struct byte_source *source, const struct xspace_index *index, struct arena *arena,
                         struct trace_contents *contents, struct error *error) {
    struct contents_walk walk = {source, arena, contents};
    *contents = (struct trace_contents){0};
    for (size_t i = 0; i < index->plane_count; i++) {
        if (!look_at_plane(&walk, &index->planes[i], error)) return false;
    }
    return true;
}
