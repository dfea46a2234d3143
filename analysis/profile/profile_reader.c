#include "analysis/profile/profile_reader.h"

#include "analysis/profile/memory_event.h"
#include "proto/xplane_fields.h"

enum { SCRATCH_LIMIT_BYTES = 1 << 30, BYTES_PER_MEMORY_EVENT = 128 };

void profile_reader_init(struct profile_reader *reader, struct byte_source *source, struct arena *arena) {
    *reader = (struct profile_reader){.source = source, .arena = arena};
    arena_init(&reader->scratch, SCRATCH_LIMIT_BYTES);
    site_table_init(&reader->sites);
}

void profile_reader_release(struct profile_reader *reader) {
    step_graph_release(&reader->graph);
    text_table_release(&reader->texts);
    site_table_release(&reader->sites);
    memory_columns_release(&reader->columns);
    large_block_release(&reader->timelines);
    large_block_release(&reader->timeline_of_text);
    arena_free(&reader->scratch);
}

static bool too_much(const struct profile_reader *reader, uint64_t offset, struct error *error) {
    error_at(error, ERROR_TOO_BIG, (int64_t)offset, "no memory left for the memory events of this profile");
    return error_in_file(error, byte_source_path(reader->source), 0);
}

// --- Opening ---

static bool prepare(struct profile_reader *reader) {
    const struct plane_head *head = &reader->head;
    reader->text_of_stat_name = arena_push_raw(&reader->scratch, head->stats.count, sizeof(uint32_t));
    reader->threads = arena_new(reader->arena, struct memory_thread, head->line_count);
    reader->thread_begin_ns = arena_new(&reader->scratch, int64_t, head->line_count);
    if (!reader->text_of_stat_name || !reader->threads || !reader->thread_begin_ns) return false;
    memset(reader->text_of_stat_name, 0xff, head->stats.count * sizeof(uint32_t));
    step_graph_init(&reader->graph, &head->events, &reader->stat_kinds);
    return host_event_kinds(&head->events, &reader->scratch, &reader->event_kinds) &&
           host_stat_kinds(&head->stats, &reader->scratch, &reader->stat_kinds) &&
           text_table_init(&reader->texts, reader->arena);
}

bool profile_reader_open(struct profile_reader *reader, uint64_t offset, uint64_t size, struct error *error) {
    bool is_whole = plane_head_read(reader->source, offset, size, &reader->scratch, &reader->head, error);
    struct error reason;
    if (prepare(reader)) return is_whole;
    reader->head = (struct plane_head){0};
    (void)too_much(reader, offset, is_whole ? error : &reason);
    return false;
}

bool profile_reader_has_memory_events(const struct profile_reader *reader) {
    return metadata_has_name(&reader->head.events, BYTES("MemoryAllocation")) ||
           metadata_has_name(&reader->head.events, BYTES("MemoryDeallocation"));
}

// --- Timelines ---

static bool remember_texts(struct profile_reader *reader) {
    uint32_t had = reader->timeline_of_text_count, count = reader->texts.count;
    if (!large_block_reserve(&reader->timeline_of_text, count * sizeof(uint32_t))) return false;
    memset((uint32_t *)reader->timeline_of_text.data + had, 0xff, (count - had) * sizeof(uint32_t));
    reader->timeline_of_text_count = count;
    return true;
}

static bool add_timeline(struct profile_reader *reader, uint32_t memory_id, uint32_t *timeline) {
    size_t size = (reader->timeline_count + (size_t)1) * sizeof(struct timeline_notes);
    if (reader->timeline_count == MEMORY_PROFILE_MAX_TIMELINES || !large_block_reserve(&reader->timelines, size))
        return false;
    ((struct timeline_notes *)reader->timelines.data)[reader->timeline_count] = (struct timeline_notes){
        memory_id, 0, MEMORY_EVENT_NONE, MEMORY_EVENT_NONE};
    *timeline = reader->timeline_count++;
    return true;
}

static bool find_timeline(struct profile_reader *reader, uint32_t memory_id, uint32_t *timeline) {
    if (memory_id >= reader->timeline_of_text_count && !remember_texts(reader)) return false;
    uint32_t *known = (uint32_t *)reader->timeline_of_text.data + memory_id;
    if (*known == INDEX_NONE && !add_timeline(reader, memory_id, known)) return false;
    *timeline = *known;
    return true;
}

static void note_for_xprof(struct profile_reader *reader, const struct memory_row *row, uint32_t at) {
    struct timeline_notes *notes = (struct timeline_notes *)reader->timelines.data + row->timeline;
    int64_t used = (int64_t)((uint64_t)row->heap_bytes + (uint64_t)row->stack_bytes);
    notes->last_row = at;
    if (used < notes->peak_bytes) return;
    notes->peak_bytes = used;
    notes->peak_row = at;
}

// --- Events ---

static bool needs_graph(const struct profile_reader *reader) {
    return !reader->is_grouped && !reader->has_no_steps;
}

static bool add_memory_event(struct profile_reader *reader, const struct host_event *event) {
    struct event_texts texts = {&reader->head.stats, reader->text_of_stat_name, &reader->texts};
    struct memory_event read;
    uint32_t at = reader->columns.count;
    if (at == MEMORY_PROFILE_MAX_EVENTS || !memory_event_read(event, &reader->stat_kinds, &texts, &read)) return false;
    read.row.thread = reader->thread_count;
    read.row.site = site_table_put(&reader->sites, &read.site);
    if (read.row.site == INDEX_NONE || !find_timeline(reader, read.memory_id, &read.row.timeline)) return false;
    note_for_xprof(reader, &read.row, at);
    if (needs_graph(reader)) read.row.step = step_graph_node_at(&reader->graph, event);
    return memory_columns_add(&reader->columns, &read.row);
}

static bool add_event(struct profile_reader *reader, struct bytes message) {
    struct host_event event;
    if (!host_event_open(message, &reader->event_kinds, &event)) {
        reader->left_out_count++;
        return true;
    }
    if (event.kind == HOST_EVENT_ALLOCATION || event.kind == HOST_EVENT_DEALLOCATION)
        return add_memory_event(reader, &event);
    reader->other_event_count++;
    return !needs_graph(reader) || step_graph_add(&reader->graph, &event);
}

static bool copy_name(struct profile_reader *reader, struct bytes name, struct bytes *copy) {
    char *text = arena_string(reader->arena, name);
    *copy = (struct bytes){(const uint8_t *)text, name.size};
    return text != NULL;
}

// A field of the line's own. False when there is no memory.
static bool take_field(struct profile_reader *reader, const struct wire_field *field) {
    struct memory_thread *thread = &reader->threads[reader->thread_count];
    if (field->number == XLINE_EVENTS && field->type == WIRE_LEN) return add_event(reader, field->payload);
    if (field->number == XLINE_NAME && field->type == WIRE_LEN && field->payload.size <= PLANE_NAME_MAX_BYTES)
        return copy_name(reader, field->payload, &thread->name);
    if (field->number == XLINE_ID && field->type == WIRE_VARINT) thread->id = wire_int64(field);
    if (field->number == XLINE_TIMESTAMP_NS && field->type == WIRE_VARINT)
        reader->thread_begin_ns[reader->thread_count] = wire_int64(field);
    return true;
}

static bool end_line(struct profile_reader *reader) {
    int64_t begin_ns = reader->thread_begin_ns[reader->thread_count++];
    return !needs_graph(reader) || step_graph_end_line(&reader->graph, (int64_t)((uint64_t)begin_ns * 1000u));
}

// A line that breaks off keeps what stands before; a limit ends the reading.
static bool read_line(struct profile_reader *reader, struct line_reader *lines, const struct plane_line *line,
                      struct error *error, bool *at_limit) {
    struct wire_field field;
    enum line_reader_step step;
    line_reader_open(lines, line->offset, line->size_bytes);
    while ((step = line_reader_next(lines, &field, error)) <= LINE_READER_TOO_LONG) {
        reader->left_out_count += step == LINE_READER_TOO_LONG && field.number == XLINE_EVENTS;
        if (step == LINE_READER_FIELD && !take_field(reader, &field)) *at_limit = true;
        if (*at_limit) return too_much(reader, lines->at, error);
    }
    if (!end_line(reader)) {
        *at_limit = true;
        return too_much(reader, lines->at, error);
    }
    return step == LINE_READER_END;
}

// A memory event with its stats takes some 130 bytes, and is never alone.
static void expect_rows(struct profile_reader *reader) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < reader->head.line_count; i++) bytes += reader->head.lines[i].size_bytes;
    memory_columns_expect(&reader->columns, bytes / BYTES_PER_MEMORY_EVENT);
}

static bool read_all_lines(struct profile_reader *reader, struct error *error) {
    struct line_reader lines;
    struct error reason;
    bool is_whole = true, at_limit = false;
    if (!line_reader_init(&lines, reader->source, &reader->scratch)) return too_much(reader, 0, error);
    expect_rows(reader);
    for (uint32_t i = 0; i < reader->head.line_count && !at_limit; i++) {
        if (read_line(reader, &lines, &reader->head.lines[i], &reason, &at_limit)) continue;
        if (is_whole) *error = reason;
        is_whole = false;
    }
    return is_whole;
}

// Back to where no line has been read, but with what step_loops.h needs. Texts keep their numbers.
static void start_over_with_loops(struct profile_reader *reader) {
    memory_columns_release(&reader->columns);
    site_table_release(&reader->sites);
    site_table_init(&reader->sites);
    large_block_release(&reader->timelines);
    large_block_release(&reader->timeline_of_text);
    reader->timeline_count = reader->timeline_of_text_count = reader->thread_count = 0;
    reader->other_event_count = reader->left_out_count = 0;
    step_graph_release(&reader->graph);
    step_graph_init(&reader->graph, &reader->head.events, &reader->stat_kinds);
    reader->graph.keeps_executors = true;
}

bool profile_reader_read_lines(struct profile_reader *reader, struct error *error) {
    bool is_whole = read_all_lines(reader, error);
    if (!reader->graph.has_loops) return is_whole;
    start_over_with_loops(reader);
    return read_all_lines(reader, error);
}
