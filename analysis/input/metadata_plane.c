#include "analysis/input/metadata_plane.h"

#include <stdio.h>

#include "analysis/base/growing_array.h"
#include "analysis/input/map_entry.h"
#include "analysis/input/input_name.h"
#include "proto/hlo_fields.h"
#include "proto/xplane_fields.h"

enum { MAX_IDS = 8 };

// The ids that stat_metadata gives to one name; more than one is a writer's oddity.
struct stat_ids {
    int64_t ids[MAX_IDS];
    size_t count;
};

struct plane_walk {
    struct byte_source *source;
    struct arena *arena;
    struct xspace_index *index;
    struct stat_ids hlo_proto;
    struct stat_ids program_id;
    bool guess_hlo_proto;
};

struct stat {
    int64_t metadata_id;
    bool is_integer;
    int64_t integer;
    struct file_field bytes;  // number 0: none
};

struct event_metadata {
    int64_t id;
    struct bytes name;
    struct file_field hlo_proto;
    bool has_program_id;
    int64_t program_id;
};

static bool add_id(struct stat_ids *stat_ids, int64_t id) {
    if (stat_ids->count < MAX_IDS) stat_ids->ids[stat_ids->count++] = id;
    return true;
}

static bool has_id(const struct stat_ids *stat_ids, int64_t id) {
    for (size_t i = 0; i < stat_ids->count; i++) {
        if (stat_ids->ids[i] == id) return true;
    }
    return false;
}

// --- First walk: which stat ids mean what ---

static bool learn_stat_name(struct plane_walk *walk, int64_t id, const struct file_field *name, struct error *error) {
    struct bytes text;
    if (name->payload_size == 0 || name->payload_size > BYTE_SOURCE_PEEK_BYTES) return true;
    if (!byte_source_peek(walk->source, name->payload_offset, (size_t)name->payload_size, &text, error)) return false;
    if (bytes_equal(text, BYTES("Hlo Proto")) || bytes_equal(text, BYTES("HLO Proto")) ||
        bytes_equal(text, BYTES("hlo_proto")))
        return add_id(&walk->hlo_proto, id);
    return bytes_equal(text, BYTES("program_id")) ? add_id(&walk->program_id, id) : true;
}

static bool learn_stat_metadata(struct plane_walk *walk, const struct file_field *entry, struct error *error) {
    int64_t key;
    struct file_field value, field, name = {0};
    if (!map_entry_read(walk->source, entry, &key, &value, error)) return false;
    struct file_cursor cursor = file_cursor_inside(walk->source, &value);
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number == XSTAT_METADATA_ENTRY_ID && field.type == WIRE_VARINT && key == 0)
            key = (int64_t)field.value;
        if (field.number == XSTAT_METADATA_NAME && field.type == WIRE_LEN) name = field;
    }
    return !cursor.has_failed && learn_stat_name(walk, key, &name, error);
}

static bool learn_stats(struct plane_walk *walk, const struct file_field *plane, struct error *error) {
    struct file_cursor cursor = file_cursor_inside(walk->source, plane);
    struct file_field field;
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number != XPLANE_STAT_METADATA || field.type != WIRE_LEN) continue;
        if (!learn_stat_metadata(walk, &field, error)) return false;
    }
    return !cursor.has_failed;
}

// --- Second walk: the programs ---

static bool read_stat(struct byte_source *source, const struct file_field *message, struct stat *stat,
                      struct error *error) {
    struct file_cursor cursor = file_cursor_inside(source, message);
    struct file_field field;
    *stat = (struct stat){0};
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number == XSTAT_METADATA_ID && field.type == WIRE_VARINT) stat->metadata_id = (int64_t)field.value;
        if (field.number == XSTAT_BYTES_VALUE && field.type == WIRE_LEN) stat->bytes = field;
        if ((field.number == XSTAT_UINT64_VALUE || field.number == XSTAT_INT64_VALUE) && field.type == WIRE_VARINT) {
            stat->is_integer = true;
            stat->integer = (int64_t)field.value;
        }
    }
    return !cursor.has_failed;
}

static bool add_stat(struct plane_walk *walk, const struct file_field *message, struct event_metadata *event,
                     struct error *error) {
    struct stat stat;
    if (!read_stat(walk->source, message, &stat, error)) return false;
    bool is_hlo_proto = walk->guess_hlo_proto || has_id(&walk->hlo_proto, stat.metadata_id);
    if (is_hlo_proto && stat.bytes.number && !event->hlo_proto.number) event->hlo_proto = stat.bytes;
    if (has_id(&walk->program_id, stat.metadata_id) && stat.is_integer && !event->has_program_id) {
        event->has_program_id = true;
        event->program_id = stat.integer;
    }
    return true;
}

static bool load_name(struct plane_walk *walk, const struct file_field *field, struct bytes *name,
                      struct error *error) {
    *name = (struct bytes){0};
    if (field->payload_size == 0) return true;
    return byte_source_load(walk->source, field->payload_offset, field->payload_size, XSPACE_MAX_NAME_BYTES,
                            walk->arena, name, error);
}

// The name is loaded where it stands: to come back for it over the blob would cost a .gz much.
static bool read_event_metadata(struct plane_walk *walk, const struct file_field *entry, struct event_metadata *event,
                                struct error *error) {
    int64_t key;
    struct file_field value, field;
    *event = (struct event_metadata){0};
    if (!map_entry_read(walk->source, entry, &key, &value, error)) return false;
    event->id = key;
    struct file_cursor cursor = file_cursor_inside(walk->source, &value);
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number == XEVENT_METADATA_ENTRY_ID && field.type == WIRE_VARINT) event->id = (int64_t)field.value;
        if (field.number == XEVENT_METADATA_NAME && field.type == WIRE_LEN &&
            !load_name(walk, &field, &event->name, error))
            return false;
        if (field.number == XEVENT_METADATA_STATS && field.type == WIRE_LEN && !add_stat(walk, &field, event, error))
            return false;
    }
    return !cursor.has_failed;
}

static bool find_message(struct file_cursor cursor, uint32_t number, struct file_field *found, struct error *error) {
    struct file_field field;
    *found = (struct file_field){0};
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number != number || field.type != WIRE_LEN) continue;
        *found = field;
        return true;
    }
    return !cursor.has_failed;
}

bool metadata_plane_module_name(struct byte_source *source, uint64_t offset, uint64_t size_bytes,
                                struct file_field *name, struct error *error) {
    struct file_field module;
    *name = (struct file_field){0};
    if (!find_message(file_cursor_at(source, offset, size_bytes), HLO_PROTO_MODULE, &module, error)) return false;
    if (!module.number) return true;
    return find_message(file_cursor_inside(source, &module), HLO_MODULE_NAME, name, error);
}

// The module's name inside the blob; empty when the blob is not an HloProto.
static bool load_module_name(struct plane_walk *walk, const struct file_field *blob, struct bytes *name,
                             struct error *error) {
    struct file_field field;
    struct error not_hlo;
    *name = (struct bytes){0};
    if (!metadata_plane_module_name(walk->source, blob->payload_offset, blob->payload_size, &field, &not_hlo))
        return true;
    if (field.payload_size > XSPACE_MAX_NAME_BYTES) return true;
    return load_name(walk, &field, name, error);
}

static bool out_of_memory(struct plane_walk *walk, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, byte_source_path(walk->source), ERROR_WHOLE_FILE,
                    "no memory left for the list of programs (%zu so far)", walk->index->program_count);
}

// "module(program id)", byte by byte: a hostile name may hold anything, also zeros.
static bool make_name(struct arena *arena, struct xspace_program *program) {
    char id[32];
    int id_size = snprintf(id, sizeof id, "(%llu)", (unsigned long long)program->program_id);
    size_t module_size = program->module_name.size;
    uint8_t *name = arena_push_raw(arena, module_size + (size_t)id_size, 1);
    if (!name) return false;
    if (module_size) memcpy(name, program->module_name.data, module_size);
    memcpy(name + module_size, id, (size_t)id_size);
    program->name = (struct bytes){name, module_size + (size_t)id_size};
    return true;
}

static bool add_program(struct plane_walk *walk, struct xspace_program program, struct error *error) {
    struct xspace_index *index = walk->index;
    if (index->program_count == XSPACE_MAX_PROGRAMS) {
        return error_in(error, ERROR_TOO_BIG, byte_source_path(walk->source), (int64_t)program.offset,
                        "more than %d programs in one file", XSPACE_MAX_PROGRAMS);
    }
    return (make_name(walk->arena, &program) &&
            growing_array_add(walk->arena, index->programs, index->program_count, program)) ||
           out_of_memory(walk, error);
}

static bool read_program(struct plane_walk *walk, const struct file_field *entry, struct error *error) {
    struct event_metadata event;
    struct bytes inside = {0};
    if (!read_event_metadata(walk, entry, &event, error)) return false;
    const struct file_field *blob = &event.hlo_proto;
    if (!blob->number) return true;
    struct program_name name = program_name_parse(event.name);
    if ((walk->guess_hlo_proto || name.module.size == 0) && !load_module_name(walk, blob, &inside, error)) return false;
    if (walk->guess_hlo_proto && !bytes_equal(inside, name.module)) return true;
    struct xspace_program program = {
        .module_name = name.module.size ? name.module : inside,
        .has_program_id = true,
        .program_id = event.has_program_id ? event.program_id
                      : name.has_id        ? name.program_id
                                           : event.id,
        .offset = blob->payload_offset,
        .size_bytes = blob->payload_size,
    };
    return add_program(walk, program, error);
}

// An entry that is wrong inside does not hide the others; the first error is kept.
static bool read_programs(struct plane_walk *walk, const struct file_field *plane, struct error *error) {
    struct file_cursor cursor = file_cursor_inside(walk->source, plane);
    struct file_field field;
    struct error found;
    bool ok = true;
    while (file_cursor_next(&cursor, &field, &found)) {
        if (field.number != XPLANE_EVENT_METADATA || field.type != WIRE_LEN) continue;
        if (read_program(walk, &field, &found)) continue;
        if (ok) *error = found;
        ok = false;
        if (found.code == ERROR_TOO_BIG) return false;
    }
    if (cursor.has_failed && ok) *error = found;
    return ok && !cursor.has_failed;
}

bool metadata_plane_read(struct byte_source *source, const struct file_field *plane, struct arena *arena,
                         struct xspace_index *index, struct error *error) {
    struct plane_walk walk = {.source = source, .arena = arena, .index = index};
    bool whole = learn_stats(&walk, plane, error);
    walk.guess_hlo_proto = (!whole || plane->is_cut) && walk.hlo_proto.count == 0;
    struct error later;
    return read_programs(&walk, plane, whole ? error : &later) && whole;
}
