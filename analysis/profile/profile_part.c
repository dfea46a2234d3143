#include "analysis/profile/profile_part.h"

#include "proto/xplane_fields.h"

enum { BYTES_PER_MEMORY_EVENT = 128 };

bool profile_part_init(struct profile_part *part, const struct profile_plane *plane, struct byte_source *source,
                       struct arena *arena, uint32_t first_line, uint32_t end_line) {
    *part = (struct profile_part){.plane = plane,
                                  .source = source,
                                  .arena = arena,
                                  .first_line = first_line,
                                  .end_line = end_line,
                                  .max_rows = MEMORY_PROFILE_MAX_EVENTS};
    arena_init(&part->scratch, 0);
    if (!string_table_init(&part->texts, &part->scratch) ||
        !memory_event_reader_init(&part->events, &plane->stat_kinds, &part->texts, arena, &part->scratch) ||
        !site_table_init(&part->sites, &part->scratch) ||
        !step_graph_init(&part->graph, &plane->head.events, &plane->stat_kinds, &part->scratch))
        return false;
    part->graph.keeps_executors = plane->keeps_executors;
    return true;
}

void profile_part_release(struct profile_part *part) {
    step_graph_release(&part->graph);
    site_table_release(&part->sites);
    memory_rows_release(&part->rows);
    large_block_release(&part->timelines);
    large_block_release(&part->timeline_of_text);
    arena_free(&part->scratch);
}

// --- Timelines ---

static bool pass_limit(struct profile_part *part, const char *limit) {
    part->limit = limit;
    return false;
}

static bool remember_texts(struct profile_part *part) {
    uint32_t had = part->timeline_of_text_count, count = part->texts.count;
    if (!large_block_reserve(&part->timeline_of_text, count * sizeof(uint32_t))) return false;
    memset((uint32_t *)part->timeline_of_text.data + had, 0xff, (count - had) * sizeof(uint32_t));
    part->timeline_of_text_count = count;
    return true;
}

static bool add_timeline(struct profile_part *part, uint32_t memory_id, uint32_t *timeline) {
    size_t size = (part->timeline_count + (size_t)1) * sizeof(struct timeline_notes);
    if (part->timeline_count == MEMORY_PROFILE_MAX_TIMELINES) return pass_limit(part, "more than 4096 memory ids");
    if (!large_block_reserve(&part->timelines, size)) return false;
    ((struct timeline_notes *)part->timelines.data)[part->timeline_count] = (struct timeline_notes){
        memory_id, 0, MEMORY_EVENT_NONE, MEMORY_EVENT_NONE};
    *timeline = part->timeline_count++;
    return true;
}

bool profile_part_timeline(struct profile_part *part, uint32_t memory_id, uint32_t *timeline) {
    if (memory_id >= part->timeline_of_text_count && !remember_texts(part)) return false;
    uint32_t *known = (uint32_t *)part->timeline_of_text.data + memory_id;
    if (*known == ID_MAP_NONE && !add_timeline(part, memory_id, known)) return false;
    *timeline = *known;
    return true;
}

static void note_for_xprof(struct profile_part *part, const struct memory_row *row, uint32_t at) {
    struct timeline_notes *notes = (struct timeline_notes *)part->timelines.data + row->timeline;
    int64_t used = (int64_t)((uint64_t)row->heap_bytes + (uint64_t)row->stack_bytes);
    notes->last_row = at;
    if (used < notes->peak_bytes) return;
    notes->peak_bytes = used;
    notes->peak_row = at;
}

// --- Events ---

static bool needs_graph(const struct profile_part *part) {
    return !part->plane->is_grouped && !part->plane->has_no_steps;
}

static bool add_memory_event(struct profile_part *part, const struct host_event *event) {
    struct memory_event read;
    uint32_t at = part->rows.count;
    if (at == part->max_rows) return pass_limit(part, "more memory events than hbmview takes (2^25)");
    if (!memory_event_read(&part->events, event, &read)) return false;
    read.row.thread = part->line;
    read.row.site = site_table_put(&part->sites, &read.site);
    if (read.row.site == SITE_NONE || !profile_part_timeline(part, read.memory_id, &read.row.timeline)) return false;
    note_for_xprof(part, &read.row, at);
    if (needs_graph(part)) read.row.step = step_graph_node_at(&part->graph, event);
    return memory_rows_add(&part->rows, &read.row);
}

static bool add_event(struct profile_part *part, struct bytes message) {
    struct host_event event;
    if (!host_event_open(message, &part->plane->event_kinds, &event)) {
        part->left_out_count++;
        return true;
    }
    if (event.kind == HOST_EVENT_ALLOCATION || event.kind == HOST_EVENT_DEALLOCATION)
        return add_memory_event(part, &event);
    part->other_event_count++;
    return !needs_graph(part) || step_graph_add(&part->graph, &event);
}

// --- Lines ---

static bool copy_name(struct arena *arena, struct bytes *name) {
    char *text = arena_string(arena, *name);
    name->data = (const uint8_t *)text;
    return text != NULL;
}

// A field of the line's own. False when there is no memory.
static bool take_field(struct profile_part *part, const struct wire_field *field) {
    struct memory_thread *thread = &part->plane->threads[part->line];
    if (field->number == XLINE_EVENTS && field->type == WIRE_LEN) return add_event(part, field->payload);
    if (field->number == XLINE_NAME && field->type == WIRE_LEN && field->payload.size <= PLANE_NAME_MAX_BYTES) {
        thread->name = field->payload;
        return copy_name(part->arena, &thread->name);
    }
    if (field->number == XLINE_ID && field->type == WIRE_VARINT) thread->id = wire_int64(field);
    if (field->number == XLINE_TIMESTAMP_NS && field->type == WIRE_VARINT)
        part->plane->thread_begin_ns[part->line] = wire_int64(field);
    return true;
}

static bool end_line(struct profile_part *part) {
    uint64_t begin_ns = (uint64_t)part->plane->thread_begin_ns[part->line];
    return !needs_graph(part) || step_graph_end_line(&part->graph, (int64_t)(begin_ns * 1000u));
}

static void note_fault(struct profile_part *part, const struct error *error) {
    if (part->fault.code == ERROR_NONE || error->code == ERROR_TOO_BIG) part->fault = *error;
}

static void note_limit(struct profile_part *part, const struct line_reader *lines) {
    struct error error;
    error_in(&error, ERROR_TOO_BIG, byte_source_path(part->source), (int64_t)line_reader_at(lines), "%s",
             part->limit ? part->limit : "no memory left for the memory events of this profile");
    note_fault(part, &error);
}

// A line that breaks off keeps what stands before. False at a limit, which ends the reading.
static bool read_line(struct profile_part *part, struct line_reader *lines) {
    const struct plane_line *line = &part->plane->head.lines[part->line];
    struct wire_field field;
    struct error error;
    enum line_reader_step step;
    line_reader_open(lines, line->offset, line->size_bytes);
    while ((step = line_reader_next(lines, &field, &error)) <= LINE_READER_TOO_LONG) {
        part->left_out_count += step == LINE_READER_TOO_LONG && field.number == XLINE_EVENTS;
        if (step == LINE_READER_FIELD && !take_field(part, &field)) return false;
    }
    if (step == LINE_READER_ERROR) note_fault(part, &error);
    return end_line(part);
}

// A memory event with its stats takes some 130 bytes, and is never alone.
static void expect_rows(struct profile_part *part) {
    uint64_t bytes = 0;
    for (uint32_t i = part->first_line; i < part->end_line; i++) bytes += part->plane->head.lines[i].size_bytes;
    memory_rows_expect(&part->rows, bytes / BYTES_PER_MEMORY_EVENT);
}

void profile_part_read(struct profile_part *part) {
    struct line_reader lines;
    if (!line_reader_init(&lines, part->source, &part->scratch)) return note_limit(part, &lines);
    expect_rows(part);
    for (part->line = part->first_line; part->line < part->end_line; part->line++) {
        if (!read_line(part, &lines)) return note_limit(part, &lines);
    }
}

// --- Two parts become one ---

static bool append_texts(struct profile_part *part, const struct profile_part *later, uint32_t *map) {
    for (uint32_t i = 0; i < later->texts.count; i++)
        map[i] = string_table_copy(&part->texts, later->texts.texts[i], part->arena);
    if (string_table_has_failed(&part->texts)) return false;
    for (uint32_t line = later->first_line; line < later->end_line; line++) {
        if (!copy_name(part->arena, &part->plane->threads[line].name)) return false;
    }
    return true;
}

static bool append_sites(struct profile_part *part, const struct profile_part *later, const uint32_t *text,
                         uint32_t *map) {
    const struct site_key *keys = later->sites.keys.data;
    for (uint32_t i = 0; i < later->sites.count; i++) {
        struct site_key key = keys[i];
        key.op = text[key.op];
        key.region_type = text[key.region_type];
        key.shape = text[key.shape];
        map[i] = site_table_put(&part->sites, &key);
        if (map[i] == SITE_NONE) return false;
    }
    return true;
}

static void join_notes(struct timeline_notes *notes, const struct timeline_notes *later, uint32_t first_row) {
    if (later->last_row != MEMORY_EVENT_NONE) notes->last_row = later->last_row + first_row;
    if (later->peak_row == MEMORY_EVENT_NONE || later->peak_bytes < notes->peak_bytes) return;
    notes->peak_row = later->peak_row + first_row;
    notes->peak_bytes = later->peak_bytes;
}

static bool append_timelines(struct profile_part *part, const struct profile_part *later, const uint32_t *text,
                             uint32_t *map) {
    const struct timeline_notes *notes = later->timelines.data;
    for (uint32_t i = 0; i < later->timeline_count; i++) {
        if (!profile_part_timeline(part, text[notes[i].memory_id], &map[i])) return false;
        join_notes((struct timeline_notes *)part->timelines.data + map[i], &notes[i], part->rows.count);
    }
    return true;
}

bool profile_part_append(struct profile_part *part, struct profile_part *later, struct arena *scratch,
                         uint32_t *first_node) {
    uint32_t *text = arena_push_raw(scratch, later->texts.count, sizeof *text);
    uint32_t *site = arena_push_raw(scratch, (size_t)later->sites.count + 1, sizeof *site);
    uint32_t *timeline = arena_push_raw(scratch, (size_t)later->timeline_count + 1, sizeof *timeline);
    if (!text || !site || !timeline || !append_texts(part, later, text) || !append_sites(part, later, text, site) ||
        !append_timelines(part, later, text, timeline))
        return false;
    later->site_of = site;
    later->timeline_of = timeline;
    part->other_event_count += later->other_event_count;
    part->left_out_count += later->left_out_count;
    if (later->fault.code != ERROR_NONE) note_fault(part, &later->fault);
    return step_graph_append(&part->graph, &later->graph, first_node);
}
