#include "analysis/input/xspace_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/file_cursor.h"
#include "analysis/base/growing_array.h"
#include "analysis/input/metadata_plane.h"
#include "analysis/input/input_name.h"
#include "proto/xplane_fields.h"

struct space_walk {
    struct byte_source *source;
    struct arena *arena;
    struct xspace_index *index;
    struct error *first_error;
    bool failed;
};

// Keeps the first error and lets the walk go on to what is whole.
static void note(struct space_walk *walk, const struct error *error) {
    if (!walk->failed) *walk->first_error = *error;
    walk->failed = true;
}

static bool too_big(struct space_walk *walk, uint64_t offset, const char *what, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, byte_source_path(walk->source), (int64_t)offset, "%s", what);
}

// The first name in the plane; writers put it before the lines, but it may come after.
static bool read_plane_name(struct space_walk *walk, const struct file_field *plane, struct bytes *name,
                            struct error *error) {
    struct file_cursor cursor = file_cursor_inside(walk->source, plane);
    struct file_field field;
    *name = (struct bytes){0};
    while (file_cursor_next(&cursor, &field, error)) {
        if (field.number != XPLANE_NAME || field.type != WIRE_LEN) continue;
        return byte_source_load(walk->source, field.payload_offset, field.payload_size, XSPACE_MAX_NAME_BYTES,
                                walk->arena, name, error);
    }
    return !cursor.has_failed;
}

static bool add_plane(struct space_walk *walk, const struct file_field *plane, struct bytes name, struct error *error) {
    struct xspace_index *index = walk->index;
    struct xspace_plane added = {name, plane->payload_offset, plane->payload_size};
    return growing_array_add(walk->arena, index->planes, index->plane_count, added) ||
           too_big(walk, plane->payload_offset, "no memory left for the list of planes", error);
}

static bool read_plane(struct space_walk *walk, const struct file_field *plane, struct error *error) {
    struct bytes name;
    if (!read_plane_name(walk, plane, &name, error)) return false;
    if (!add_plane(walk, plane, name, error)) return false;
    if (!bytes_equal(name, BYTES("/host:metadata"))) return true;
    return metadata_plane_read(walk->source, plane, walk->arena, walk->index, error);
}

static bool say_what_is_left_out(struct arena *arena, struct bytes *text, uint64_t left_out_bytes) {
    char ending[48];
    int size = snprintf(ending, sizeof ending, " ... (%llu more bytes)", (unsigned long long)left_out_bytes);
    uint8_t *longer = arena_push_raw(arena, text->size + (size_t)size, 1);
    if (!longer) return false;
    memcpy(longer, text->data, text->size);
    memcpy(longer + text->size, ending, (size_t)size);
    *text = (struct bytes){longer, text->size + (size_t)size};
    return true;
}

// A text longer than a name may be is cut, and says so.
static bool read_warning(struct space_walk *walk, const struct file_field *field, struct error *error) {
    struct xspace_index *index = walk->index;
    if (index->warning_count == XSPACE_MAX_WARNINGS) {
        index->warnings_left_out++;
        return true;
    }
    uint64_t over = field->payload_size > XSPACE_MAX_NAME_BYTES ? field->payload_size - XSPACE_MAX_NAME_BYTES : 0;
    struct bytes text;
    if (!byte_source_load(walk->source, field->payload_offset, field->payload_size - over, XSPACE_MAX_NAME_BYTES,
                          walk->arena, &text, error))
        return false;
    return ((!over || say_what_is_left_out(walk->arena, &text, over)) &&
            growing_array_add(walk->arena, index->warnings, index->warning_count, text)) ||
           too_big(walk, field->payload_offset, "no memory left for the profiler's warnings", error);
}

static void read_field(struct space_walk *walk, const struct file_field *field) {
    struct error error;
    bool ok = true;
    if (field->type != WIRE_LEN) return;
    if (field->number == XSPACE_PLANES)
        ok = read_plane(walk, field, &error);
    else if (field->number == XSPACE_ERRORS || field->number == XSPACE_WARNINGS)
        ok = read_warning(walk, field, &error);
    if (!ok) note(walk, &error);
}

static void read_fields(struct space_walk *walk) {
    struct file_cursor cursor = file_cursor_over(walk->source);
    struct file_field field;
    struct error error;
    while (file_cursor_next(&cursor, &field, &error)) {
        if (field.number == XSPACE_PLANES && walk->index->plane_count == XSPACE_MAX_PLANES) {
            (void)too_big(walk, cursor.at, "more than 65536 planes in one file", &error);
            return note(walk, &error);
        }
        read_field(walk, &field);
    }
    if (!cursor.has_failed) return;
    note(walk, &error);
    if (field.is_cut) read_field(walk, &field);
}

// --- Programs of equal names ---

// By name, then by place in the file: the programs stand in file order, so their addresses tell it.
static int compare_programs(const void *a, const void *b) {
    const struct xspace_program *left = *(const struct xspace_program *const *)a;
    const struct xspace_program *right = *(const struct xspace_program *const *)b;
    int order = bytes_compare(left->name, right->name);
    return order ? order : (left > right) - (left < right);
}

// Marks all but the first of equal names by a name of NULL, which no program has.
static bool mark_duplicates(struct xspace_index *index, struct arena *arena) {
    struct xspace_program **sorted = arena_new(arena, struct xspace_program *, index->program_count);
    if (!sorted) return false;
    for (size_t i = 0; i < index->program_count; i++) sorted[i] = &index->programs[i];
    qsort(sorted, index->program_count, sizeof *sorted, compare_programs);
    struct xspace_program *first = sorted[0];
    for (size_t i = 1; i < index->program_count; i++) {
        if (bytes_equal(sorted[i]->name, first->name))
            sorted[i]->name.data = NULL;
        else
            first = sorted[i];
    }
    return true;
}

static bool drop_duplicates(struct space_walk *walk, struct error *error) {
    struct xspace_index *index = walk->index;
    if (index->program_count < 2) return true;
    if (!mark_duplicates(index, walk->arena)) return too_big(walk, 0, "no memory left to compare program names", error);
    size_t kept = 0;
    for (size_t i = 0; i < index->program_count; i++) {
        if (index->programs[i].name.data) index->programs[kept++] = index->programs[i];
    }
    index->duplicate_count = index->program_count - kept;
    index->program_count = kept;
    return true;
}

bool xspace_index_read(struct byte_source *source, struct arena *arena, struct xspace_index *index,
                       struct error *error) {
    *index = (struct xspace_index){0};
    struct space_walk walk = {.source = source, .arena = arena, .index = index, .first_error = error};
    read_fields(&walk);
    struct error late;
    if (!drop_duplicates(&walk, &late)) note(&walk, &late);
    return !walk.failed;
}
