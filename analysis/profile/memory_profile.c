#include "analysis/profile/memory_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/xspace_read.h"
#include "analysis/base/clamped.h"
#include "analysis/base/parallel.h"
#include "analysis/profile/events/free_matching.h"
#include "analysis/profile/events/module_runs.h"
#include "analysis/profile/profile_reader.h"

struct assembly {
    struct profile_reader reader;
    struct module_run_list runs;
    struct memory_profile *profile;
    struct arena *arena;
    int64_t begin_ns;  // of the earliest line: where times count from
};

static bool too_much(const struct assembly *assembly, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, byte_source_path(assembly->reader.source), ERROR_WHOLE_FILE,
                    "no memory left for this memory profile");
}

static void note_fault(struct memory_profile *profile, const struct error *error) {
    if (profile->fault.code == ERROR_NONE) profile->fault = *error;
}

// --- Times ---

// Of a line that starts `ns` after the earliest one. Times beyond 2^62 ps (53 days) end there: no profile is so long.
static int64_t line_begin_ps(const struct assembly *assembly, int64_t ns) {
    uint64_t since = (uint64_t)ns - (uint64_t)assembly->begin_ns;
    uint64_t most = (INT64_MAX / 2) / 1000;
    return (int64_t)((since < most ? since : most) * 1000);
}

static void find_begin(struct assembly *assembly) {
    const struct profile_reader *reader = &assembly->reader;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t i = 0; i < assembly->profile->thread_count; i++) {
        if (reader->plane.thread_begin_ns[i] < first) first = reader->plane.thread_begin_ns[i];
        if (reader->plane.thread_begin_ns[i] > last) last = reader->plane.thread_begin_ns[i];
    }
    assembly->profile->lines_start_together = first >= last;
    for (size_t i = 0; i < assembly->runs.count; i++) {
        if (assembly->runs.line_begin_ns[i] < first) first = assembly->runs.line_begin_ns[i];
    }
    assembly->begin_ns = first == INT64_MAX ? 0 : first;
}

static void set_thread_times(struct assembly *assembly) {
    struct profile_reader *reader = &assembly->reader;
    for (uint32_t i = 0; i < reader->plane.head.line_count; i++)
        reader->plane.threads[i].begin_ps = line_begin_ps(assembly, reader->plane.thread_begin_ns[i]);
}

static void set_run_times(struct assembly *assembly) {
    for (size_t i = 0; i < assembly->runs.count; i++) {
        struct module_run *run = &assembly->runs.runs[i];
        run->line_begin_ps = line_begin_ps(assembly, assembly->runs.line_begin_ns[i]);
        run->begin_ps = clamped_add(run->begin_ps, run->line_begin_ps);
        run->end_ps = clamped_add(run->end_ps, run->line_begin_ps);
    }
    assembly->profile->module_runs = assembly->runs.runs;
    assembly->profile->module_run_count = assembly->runs.count;
}

// --- Steps ---

static bool name_step(struct assembly *assembly, const struct step_group *group, struct profile_step *step) {
    struct bytes root = metadata_name(&assembly->reader.plane.head.events, (int64_t)group->metadata_id);
    static const char *const nameless[] = {"FunctionRun", "SessionRun", "RunGraph", "ExecutorState::Process"};
    bool has_name = group->has_name && root.size > 0;
    for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++) {
        if (bytes_equal(root, bytes_of(nameless[i]))) has_name = false;
    }
    int shown = has_name ? (int)(root.size < 200 ? root.size : 200) : 0;
    char *name = arena_printf(assembly->arena, "%.*s%s%" PRId64, shown, (const char *)root.data, has_name ? " " : "",
                              group->number);
    if (!name) return false;
    step->name = bytes_of(name);
    return true;
}

static bool keep_steps(struct assembly *assembly, const struct step_groups *groups) {
    struct memory_profile *profile = assembly->profile;
    uint64_t base = (uint64_t)assembly->begin_ns * 1000u;
    profile->steps = arena_new(assembly->arena, struct profile_step, groups->count);
    if (!profile->steps) return false;
    for (size_t i = 0; i < groups->count; i++) {
        struct profile_step *step = &profile->steps[profile->step_count++];
        step->id = (int64_t)i;
        step->begin_ps = (int64_t)((uint64_t)groups->groups[i].begin_ps - base);
        step->end_ps = (int64_t)((uint64_t)groups->groups[i].end_ps - base);
        if (!name_step(assembly, &groups->groups[i], step)) return false;
    }
    return true;
}

// No groups where the events have their steps already, or none.
static bool find_steps(struct assembly *assembly, struct step_groups *groups) {
    struct profile_reader *reader = &assembly->reader;
    *groups = (struct step_groups){0};
    if (reader->plane.is_grouped || reader->plane.has_no_steps) return true;
    bool ok = step_graph_group(&reader->parts[0].graph, &reader->scratch, groups) && keep_steps(assembly, groups);
    step_graph_release(&reader->parts[0].graph);
    return ok;
}

// An event without a step belongs to the one after the last that was known (UpdateStepId).
static void complete_steps(struct memory_timeline *timeline) {
    int64_t last = -1;
    for (uint32_t row = 0; row < timeline->count; row++) {
        // XProf's mark for "unknown" is -1, so a step that the file gives that number is unknown as well.
        if (timeline->step[row] != STEP_UNKNOWN && timeline->step[row] != -1) {
            last = timeline->step[row];
            continue;
        }
        timeline->step[row] = last == INT64_MAX ? last : last + 1;
        timeline->flags[row] |= MEMORY_EVENT_STEP_IS_COMPLETED;
    }
}

// --- Timelines ---

struct timeline_rank {
    struct bytes memory_id;
    uint32_t timeline;
};

static int compare_ranks(const void *a, const void *b) {
    return bytes_compare(((const struct timeline_rank *)a)->memory_id, ((const struct timeline_rank *)b)->memory_id);
}

// rank[i]: the place of the reader's timeline i among the sorted ones.
static void rank_timelines(struct assembly *assembly, uint32_t *rank, struct timeline_rank *ranks) {
    const struct profile_part *all = &assembly->reader.parts[0];
    const struct timeline_notes *notes = all->timelines.data;
    for (uint32_t i = 0; i < all->timeline_count; i++)
        ranks[i] = (struct timeline_rank){all->texts.texts[notes[i].memory_id], i};
    if (all->timeline_count) qsort(ranks, all->timeline_count, sizeof *ranks, compare_ranks);
    for (uint32_t i = 0; i < all->timeline_count; i++) rank[ranks[i].timeline] = i;
}

// --- Rows: what could not be known before all lines were read ---

struct settling {
    struct profile_reader *reader;
    const struct step_groups *groups;
    const uint32_t *rank;
    struct memory_place *places;
};

static int64_t step_of(const struct step_groups *groups, int64_t node, uint32_t first_node) {
    int32_t group = node == STEP_NODE_NONE ? -1 : groups->of_node[node + first_node];
    return group < 0 ? STEP_UNKNOWN : group;
}

static void settle_rows(void *context, size_t index) {
    const struct settling *settling = context;
    const struct profile_reader *reader = settling->reader;
    const struct profile_part *part = &reader->parts[index];
    const struct memory_thread *threads = reader->plane.threads;
    uint32_t first_row = index ? reader->parts[0].rows.count : 0;
    for (uint32_t i = 0; i < part->rows.count; i++) {
        struct memory_row *row = &memory_rows_all(&part->rows)[i];
        uint32_t timeline = part->timeline_of ? part->timeline_of[row->timeline] : row->timeline;
        if (part->site_of) row->site = part->site_of[row->site];
        if (settling->groups->of_node) row->step = step_of(settling->groups, row->step, reader->first_node[index]);
        row->time_ps = clamped_add(row->time_ps, threads[row->thread].begin_ps);
        settling->places[first_row + i] = (struct memory_place){row->time_ps, settling->rank[timeline], first_row + i};
    }
}

static bool order_rows(struct assembly *assembly, const struct step_groups *groups, const uint32_t *rank,
                       struct growing_block *places) {
    struct profile_reader *reader = &assembly->reader;
    const struct memory_rows *rows[MEMORY_COLUMNS_MAX_PARTS];
    uint32_t count = 0;
    for (size_t i = 0; i < reader->part_count; i++) {
        rows[i] = &reader->parts[i].rows;
        count += rows[i]->count;
    }
    if (!large_block_reserve(places, (size_t)count * sizeof(struct memory_place))) return false;
    struct settling settling = {reader, groups, rank, places->data};
    parallel_run(settle_rows, &settling, reader->part_count);
    if (!memory_places_sort(places, count) ||
        !memory_columns_make(&assembly->profile->columns, rows, reader->part_count, places->data))
        return false;
    for (size_t i = 0; i < reader->part_count; i++) memory_rows_release(&reader->parts[i].rows);
    return true;
}

// --- Cutting the rows into timelines ---

static struct memory_timeline part_of(const struct memory_columns *columns, uint32_t from, uint32_t end) {
    return (struct memory_timeline){
        .count = end - from,
        .time_ps = memory_column_int64(columns, COLUMN_TIME) + from,
        .heap_bytes = memory_column_int64(columns, COLUMN_HEAP) + from,
        .stack_bytes = memory_column_int64(columns, COLUMN_STACK) + from,
        .free_bytes = memory_column_int64(columns, COLUMN_FREE) + from,
        .peak_bytes = memory_column_int64(columns, COLUMN_PEAK) + from,
        .fragmentation = (double *)columns->column[COLUMN_FRAGMENTATION] + from,
        .address = (uint64_t *)columns->column[COLUMN_ADDRESS] + from,
        .step = memory_column_int64(columns, COLUMN_STEP) + from,
        .site = memory_column_uint32(columns, COLUMN_SITE) + from,
        .partner = memory_column_uint32(columns, COLUMN_PARTNER) + from,
        .thread = memory_column_uint32(columns, COLUMN_THREAD) + from,
        .flags = (uint8_t *)columns->column[COLUMN_FLAGS] + from,
    };
}

// Where in the sorted rows the row of the file stands, counted from the timeline's first.
static void set_file_order(const struct timeline_notes *noted, const struct memory_place *places,
                           struct memory_timeline *one) {
    one->file_order = (struct memory_file_order){MEMORY_EVENT_NONE, MEMORY_EVENT_NONE};
    for (uint32_t i = 0; i < one->count; i++) {
        if (noted->peak_row == places[i].row) one->file_order.peak = i;
        if (noted->last_row == places[i].row) one->file_order.last = i;
    }
}

static void find_highest(struct assembly *assembly, const struct timeline_rank *ranks) {
    const struct timeline_notes *notes = assembly->reader.parts[0].timelines.data;
    size_t *highest = &assembly->profile->highest_timeline;
    for (size_t i = 1; i < assembly->profile->timeline_count; i++) {
        if (notes[ranks[i].timeline].peak_bytes > notes[ranks[*highest].timeline].peak_bytes) *highest = i;
    }
}

static bool cut_into_timelines(struct assembly *assembly, const struct timeline_rank *ranks,
                               const struct memory_place *places) {
    const struct profile_part *all = &assembly->reader.parts[0];
    const struct timeline_notes *notes = all->timelines.data;
    struct memory_profile *profile = assembly->profile;
    profile->timelines = arena_new(assembly->arena, struct memory_timeline, all->timeline_count);
    if (!profile->timelines) return false;
    for (uint32_t from = 0, end; from < profile->columns.count; from = end) {
        for (end = from; end < profile->columns.count && places[end].timeline == places[from].timeline;) end++;
        const struct timeline_rank *rank = &ranks[profile->timeline_count];
        struct memory_timeline *one = &profile->timelines[profile->timeline_count++];
        *one = part_of(&profile->columns, from, end);
        one->memory_id = rank->memory_id;
        set_file_order(&notes[rank->timeline], &places[from], one);
    }
    find_highest(assembly, ranks);
    return true;
}

static bool finish_timelines(struct memory_profile *profile) {
    for (size_t i = 0; i < profile->timeline_count; i++) {
        struct memory_timeline *one = &profile->timelines[i];
        complete_steps(one);
        if (!free_matching_find(one->address, one->flags, one->count, one->partner, &one->reused_address_count))
            return false;
    }
    return true;
}

static bool make_timelines(struct assembly *assembly, const struct step_groups *groups) {
    struct profile_reader *reader = &assembly->reader;
    struct growing_block places = {0};
    uint32_t *rank = arena_new(&reader->scratch, uint32_t, reader->parts[0].timeline_count);
    struct timeline_rank *ranks = arena_new(&reader->scratch, struct timeline_rank, reader->parts[0].timeline_count);
    if (!rank || !ranks) return false;
    rank_timelines(assembly, rank, ranks);
    bool ok = order_rows(assembly, groups, rank, &places) && cut_into_timelines(assembly, ranks, places.data);
    large_block_release(&places);
    return ok && finish_timelines(assembly->profile);
}

// --- All of it ---

// Without memory events no line was read: there is nothing but module runs.
static bool assemble(struct assembly *assembly) {
    struct memory_profile *profile = assembly->profile;
    const struct profile_reader *reader = &assembly->reader;
    const struct profile_part *all = &reader->parts[0];
    if (reader->part_count) profile->thread_count = reader->plane.head.line_count;
    profile->threads = reader->plane.threads;
    profile->other_event_count = all->other_event_count;
    profile->left_out_count = all->left_out_count;
    find_begin(assembly);
    set_run_times(assembly);
    if (reader->part_count == 0) return true;
    set_thread_times(assembly);
    struct step_groups groups;
    bool ok = find_steps(assembly, &groups) && make_timelines(assembly, &groups);
    step_groups_release(&groups);
    if (!ok) return false;
    profile->event_count = profile->columns.count;
    return site_table_finish(&all->sites, &all->texts, assembly->arena, &profile->sites);
}

// Does a plane say nothing because of what it holds? Of the disk or the memory it might say something the next time.
static bool is_of_content(const struct error *error) {
    return error->code == ERROR_TRUNCATED || error->code == ERROR_MALFORMED || error->code == ERROR_TOO_BIG;
}

// XProf looks at the names of every plane: are events grouped already (IsXSpaceGrouped), can they be (CheckLoopOp)?
static void look_at_other_planes(struct assembly *assembly, const struct xspace_index *index) {
    struct profile_reader *reader = &assembly->reader;
    for (size_t i = 0; i < index->plane_count; i++) {
        struct arena arena;
        struct plane_head head;
        struct error fault;
        arena_init(&arena, reader->scratch.limit_bytes);
        if (!plane_head_read(reader->source, index->planes[i].offset, index->planes[i].size_bytes, &arena, &head,
                             &fault) &&
            !is_of_content(&fault))
            note_fault(assembly->profile, &fault);
        if (metadata_has_name(&head.stats, BYTES("group_id"))) reader->plane.is_grouped = true;
        if (host_event_has_loops(&head.events)) reader->plane.has_no_steps = true;
        arena_free(&arena);
    }
}

static bool read_host_plane(struct assembly *assembly, const struct xspace_index *index,
                            const struct xspace_plane *plane, struct error *error) {
    struct profile_reader *reader = &assembly->reader;
    struct error fault;
    if (!profile_reader_open(reader, plane->offset, plane->size_bytes, &fault)) {
        if (fault.code == ERROR_TOO_BIG) return *error = fault, false;
        note_fault(assembly->profile, &fault);
    }
    if (!profile_reader_has_memory_events(reader)) return true;
    look_at_other_planes(assembly, index);
    if (profile_reader_read_lines(reader, &fault)) return true;
    note_fault(assembly->profile, &fault);
    if (fault.code != ERROR_TOO_BIG) return true;
    *error = fault;
    return false;
}

static const struct xspace_plane *find_host_plane(const struct xspace_index *index) {
    for (size_t i = 0; i < index->plane_count; i++) {
        if (bytes_equal(index->planes[i].name, BYTES("/host:CPU"))) return &index->planes[i];
    }
    return NULL;
}

static bool read_planes(struct assembly *assembly, const struct xspace_index *index, struct error *error) {
    struct error fault;
    const struct xspace_plane *host = find_host_plane(index);
    if (!module_runs_read(assembly->reader.source, index, assembly->arena, &assembly->runs, &fault))
        note_fault(assembly->profile, &fault);
    assembly->profile->has_host_plane = host != NULL;
    if (host && !read_host_plane(assembly, index, host, error)) return false;
    return assemble(assembly) || too_much(assembly, error);
}

bool memory_profile_read(struct byte_source *source, struct arena *arena, struct memory_profile *profile,
                         struct error *error) {
    struct assembly assembly = {.profile = profile, .arena = arena};
    struct xspace_index index;
    struct error fault;
    *profile = (struct memory_profile){.lines_start_together = true};
    profile_reader_init(&assembly.reader, source, arena);
    if (!xspace_index_read(source, &assembly.reader.scratch, &index, &fault)) note_fault(profile, &fault);
    bool ok = true;
    if (profile->fault.code != ERROR_NONE && index.plane_count == 0) {
        *error = profile->fault;
        ok = false;
    }
    ok = ok && read_planes(&assembly, &index, error);
    profile_reader_release(&assembly.reader);
    return ok;
}

void memory_profile_free(struct memory_profile *profile) {
    memory_columns_release(&profile->columns);
}

size_t memory_profile_column_bytes(const struct memory_profile *profile) {
    return memory_columns_bytes(&profile->columns);
}

const struct memory_timeline *memory_profile_timeline(const struct memory_profile *profile, struct bytes memory_id) {
    for (size_t i = 0; i < profile->timeline_count; i++) {
        if (bytes_equal(profile->timelines[i].memory_id, memory_id)) return &profile->timelines[i];
    }
    return NULL;
}

uint32_t memory_timeline_row_at(const struct memory_timeline *timeline, int64_t time_ps) {
    uint32_t low = 0, high = timeline->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (timeline->time_ps[middle] < time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
