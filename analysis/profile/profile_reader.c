#include "analysis/profile/profile_reader.h"

#include "analysis/base/parallel.h"

enum { SCRATCH_LIMIT_BYTES = 1 << 30, BYTES_WORTH_A_THREAD = 8 << 20 };

void profile_reader_init(struct profile_reader *reader, struct byte_source *source, struct arena *arena) {
    *reader = (struct profile_reader){.source = source, .arena = arena};
    arena_init(&reader->scratch, SCRATCH_LIMIT_BYTES);
    for (size_t i = 0; i < MEMORY_COLUMNS_MAX_PARTS; i++) arena_init(&reader->part_arenas[i], SCRATCH_LIMIT_BYTES);
}

static void forget_parts(struct profile_reader *reader) {
    for (size_t i = 0; i < reader->part_count; i++) profile_part_release(&reader->parts[i]);
    for (size_t i = 1; i < MEMORY_COLUMNS_MAX_PARTS; i++) {
        byte_source_close(reader->part_sources[i]);
        reader->part_sources[i] = NULL;
        arena_free(&reader->part_arenas[i]);
    }
    reader->part_count = 0;
}

void profile_reader_release(struct profile_reader *reader) {
    forget_parts(reader);
    arena_free(&reader->scratch);
}

static bool too_much(const struct profile_reader *reader, uint64_t offset, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, byte_source_path(reader->source), (int64_t)offset,
                    "no memory left for the memory events of this profile");
}

// --- Opening ---

static bool prepare(struct profile_reader *reader) {
    struct profile_plane *plane = &reader->plane;
    plane->threads = arena_new(reader->arena, struct memory_thread, plane->head.line_count);
    plane->thread_begin_ns = arena_new(&reader->scratch, int64_t, plane->head.line_count);
    return plane->threads && plane->thread_begin_ns &&
           host_event_kinds(&plane->head.events, &reader->scratch, &plane->event_kinds) &&
           host_stat_kinds(&plane->head.stats, &reader->scratch, &plane->stat_kinds);
}

bool profile_reader_open(struct profile_reader *reader, uint64_t offset, uint64_t size, struct error *error) {
    struct plane_head *head = &reader->plane.head;
    bool is_whole = plane_head_read(reader->source, offset, size, &reader->scratch, head, error);
    struct error reason;
    if (prepare(reader)) return is_whole;
    *head = (struct plane_head){0};
    (void)too_much(reader, offset, is_whole ? error : &reason);
    return false;
}

bool profile_reader_has_memory_events(const struct profile_reader *reader) {
    return metadata_has_name(&reader->plane.head.events, BYTES("MemoryAllocation")) ||
           metadata_has_name(&reader->plane.head.events, BYTES("MemoryDeallocation"));
}

// --- Sharing the lines ---

static uint64_t bytes_of_lines(const struct plane_head *head) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < head->line_count; i++) bytes += head->lines[i].size_bytes;
    return bytes;
}

// The line that the second half starts with; the number of lines when all belong to the first.
static uint32_t middle_line(const struct plane_head *head) {
    uint64_t half = bytes_of_lines(head) / 2, before = 0;
    if (half < BYTES_WORTH_A_THREAD / 2) return head->line_count;
    for (uint32_t line = 0; line < head->line_count; line++) {
        uint64_t with = before + head->lines[line].size_bytes;
        if (with >= half) return with - half < half - before || line == 0 ? line + 1 : line;
        before = with;
    }
    return head->line_count;
}

// Lines follow one another, with little between them.
static void expect_lines(const struct plane_head *head, const struct byte_source *source, uint32_t first_line,
                         uint32_t end_line) {
    if (first_line == end_line) return;
    const struct plane_line *first = &head->lines[first_line], *last = &head->lines[end_line - 1];
    uint64_t end = last->offset + last->size_bytes;
    if (end > first->offset) byte_source_expect(source, first->offset, end - first->offset);
}

static bool add_part(struct profile_reader *reader, struct byte_source *source, struct arena *arena,
                     uint32_t first_line, uint32_t end_line) {
    struct profile_part *part = &reader->parts[reader->part_count++];
    expect_lines(&reader->plane.head, source, first_line, end_line);
    return profile_part_init(part, &reader->plane, source, arena, first_line, end_line);
}

static bool make_parts(struct profile_reader *reader) {
    uint32_t lines = reader->plane.head.line_count, middle = middle_line(&reader->plane.head);
    if (middle < lines) reader->part_sources[1] = byte_source_clone(reader->source);
    if (!reader->part_sources[1]) middle = lines;
    if (!add_part(reader, reader->source, reader->arena, 0, middle)) return false;
    if (middle == lines) return true;
    reader->parts[0].max_rows /= 2;
    if (!add_part(reader, reader->part_sources[1], &reader->part_arenas[1], middle, lines)) return false;
    reader->parts[1].max_rows /= 2;
    return true;
}

static void read_part(void *context, size_t index) {
    profile_part_read((struct profile_part *)context + index);
}

static bool has_loops(const struct profile_reader *reader) {
    bool found = false;
    for (size_t i = 0; i < reader->part_count; i++) found |= reader->parts[i].graph.has_loops;
    return found;
}

static bool read_parts(struct profile_reader *reader) {
    if (!make_parts(reader)) return false;
    parallel_run(read_part, reader->parts, reader->part_count);
    if (!has_loops(reader) || reader->plane.keeps_executors) return true;
    reader->plane.keeps_executors = true;  // start over, with what step_loops.h needs
    forget_parts(reader);
    return read_parts(reader);
}

bool profile_reader_read_lines(struct profile_reader *reader, struct error *error) {
    struct profile_part *all = &reader->parts[0];
    bool ok = read_parts(reader);
    for (size_t i = 1; ok && i < reader->part_count; i++)
        ok = profile_part_append(all, &reader->parts[i], &reader->scratch, &reader->first_node[i]);
    if (!ok) return too_much(reader, 0, error);
    *error = all->fault;
    return all->fault.code == ERROR_NONE;
}
