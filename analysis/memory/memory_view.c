#include "analysis/memory/memory_view.h"

#include "analysis/memory/trace_choice.h"

struct builder {
    const struct hlo_module *module;
    struct arena *arena;
    struct memory_view *view;
    struct error *error;
    int64_t *unpadded_of_buffer;  // of the buffers that the trace names
    struct wide_shapes wide_shapes;
};

static bool too_big(const struct builder *b) {
    return error_set(b->error, ERROR_TOO_BIG, "no memory left for the view of memory space %lld",
                     (long long)b->view->totals.space);
}

static bool more_than_int64(const struct builder *b) {
    return error_set(b->error, ERROR_MALFORMED, "the buffers of memory space %lld hold more than 2^63 bytes",
                     (long long)b->view->totals.space);
}

struct bytes memory_view_shape_in(const struct hlo_buffer *buffer, struct bytes shape, enum memory_view_scope scope,
                                  struct wide_shapes *wide) {
    int64_t index[HLO_SHAPE_INDEX_MAX];
    size_t count = hlo_buffer_shape_index(buffer, index, HLO_SHAPE_INDEX_MAX);
    if (count > HLO_SHAPE_INDEX_MAX) count = HLO_SHAPE_INDEX_MAX;
    struct shape_path path = {index, count};
    if (scope == MEMORY_VIEW_AS_XPROF && count) path = (struct shape_path){&index[count - 1], 1};
    return wide_shape_at(wide, shape, path);
}

struct bytes memory_view_shape(const struct hlo_module *module, uint32_t buffer, enum memory_view_scope scope) {
    struct bytes shape = hlo_instruction_read(module, module->buffers[buffer].instruction).shape;
    return memory_view_shape_in(&module->buffers[buffer], shape, scope, NULL);
}

static int64_t unpadded_bytes(struct builder *b, uint32_t buffer, int64_t size_bytes) {
    const struct hlo_buffer *measured = &b->module->buffers[buffer];
    struct bytes whole = hlo_instruction_read(b->module, measured->instruction).shape;
    struct bytes shape = memory_view_shape_in(measured, whole, b->view->scope, &b->wide_shapes);
    int64_t unpadded = wide_shape_unpadded_bytes(&b->wide_shapes, shape);
    bool is_capped = b->view->scope == MEMORY_VIEW_EXACT && unpadded > size_bytes;
    return is_capped ? size_bytes : unpadded;
}

// A buffer is measured when the trace first names it: as the buffer of an event, or as the one whose bytes it shares,
// which need not have an event of its own.
static void measure_buffer(struct builder *b, uint32_t buffer, bool *is_measured) {
    if (buffer == HLO_NONE || is_measured[buffer]) return;
    is_measured[buffer] = true;
    b->unpadded_of_buffer[buffer] = unpadded_bytes(b, buffer, b->module->buffers[buffer].size_bytes);
}

static bool measure_buffers(struct builder *b, struct heap_events events) {
    uint32_t buffer_count = b->module->buffer_count;
    b->unpadded_of_buffer = arena_push_raw(b->arena, buffer_count, sizeof *b->unpadded_of_buffer);
    bool *is_measured = arena_new(b->arena, bool, buffer_count);
    if (!b->unpadded_of_buffer || !is_measured) return too_big(b);
    for (uint32_t i = 0; i < events.count; i++) {
        measure_buffer(b, events.events[i].buffer, is_measured);
        measure_buffer(b, events.events[i].canonical, is_measured);
    }
    return true;
}

// XProf refuses a trace that touches any number of allocations but one.
static bool check_one_allocation(const struct builder *b, struct heap_events events) {
    uint32_t seen = HLO_NONE, count = 0;
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t buffer = events.events[i].buffer;
        uint32_t allocation = buffer == HLO_NONE ? HLO_NONE : b->module->allocation_of_buffer[buffer];
        if (allocation == HLO_NONE || allocation == seen) continue;
        seen = allocation;
        count++;
    }
    if (count == 1) return true;
    return error_set(b->error, ERROR_MALFORMED,
                     "the heap simulator trace of memory space %lld touches %u buffer allocations; XProf shows only "
                     "traces of one",
                     (long long)b->view->totals.space, count);
}

static bool choose_events(const struct builder *b, struct heap_events *events) {
    int64_t space = b->view->totals.space;
    *events = (struct heap_events){0};
    if (b->view->scope == MEMORY_VIEW_EXACT) return trace_choose_exact(b->module, space, b->arena, events, b->error);
    uint32_t trace = trace_choose_as_xprof(b->module, space);
    if (trace == HLO_NONE) return true;
    *events = trace_events(b->module, trace);
    return check_one_allocation(b, *events);
}

static bool simulate(struct builder *b) {
    struct heap_events events;
    if (!choose_events(b, &events)) return false;
    b->view->has_simulation = events.count > 0;
    if (!events.count) return true;
    return measure_buffers(b, events) &&
           heap_replay_run(b->module, events, b->unpadded_of_buffer, b->arena, &b->view->replay, b->error);
}

static uint32_t largest_buffer(const struct hlo_module *module, const struct hlo_allocation *allocation) {
    uint32_t best = HLO_NONE;
    int64_t best_size = 0;
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        uint32_t buffer = module->assigned[allocation->first_assigned + i].buffer;
        if (buffer == HLO_NONE || module->buffers[buffer].size_bytes <= best_size) continue;
        best = buffer;
        best_size = module->buffers[buffer].size_bytes;
    }
    return best;
}

static bool is_shown_indefinite(const struct builder *b, const struct hlo_allocation *allocation) {
    enum allocation_category category = allocation_category_of(allocation);
    return allocation->color == b->view->totals.space && category != ALLOCATION_TEMPORARY &&
           category != ALLOCATION_THREAD_LOCAL && allocation->size_bytes > 0;
}

static struct memory_buffer indefinite_row(struct builder *b, uint32_t allocation_index, uint32_t buffer) {
    const struct hlo_allocation *allocation = &b->module->allocations[allocation_index];
    bool is_exact = b->view->scope == MEMORY_VIEW_EXACT;
    struct memory_buffer row = {.buffer = buffer,
                                .allocation = allocation_index,
                                .unpadded_bytes = -1,
                                .end_step = b->view->replay.step_count,
                                .category = allocation_category_of(allocation)};
    row.size_bytes = is_exact ? allocation->size_bytes : b->module->buffers[buffer].size_bytes;
    if (buffer != HLO_NONE) row.unpadded_bytes = unpadded_bytes(b, buffer, row.size_bytes);
    return row;
}

static bool add_indefinite_rows(struct builder *b) {
    struct memory_view *view = b->view;
    for (uint32_t i = 0; i < b->module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &b->module->allocations[i];
        if (!is_shown_indefinite(b, allocation)) continue;
        uint32_t buffer = largest_buffer(b->module, allocation);
        if (buffer == HLO_NONE && view->scope == MEMORY_VIEW_AS_XPROF) continue;
        struct memory_buffer row = indefinite_row(b, i, buffer);
        view->at_peak[view->at_peak_count++] = view->row_count;
        view->rows[view->row_count++] = row;
        view->indefinite_bytes += allocation->size_bytes;  // at most the total, which does not overflow
        int64_t unpadded = row.unpadded_bytes < 0 ? row.size_bytes : row.unpadded_bytes;
        if (__builtin_add_overflow(view->indefinite_unpadded_bytes, unpadded, &view->indefinite_unpadded_bytes)) {
            return more_than_int64(b);
        }
    }
    view->indefinite_row_count = view->row_count;
    return true;
}

// In XProf, bytes that one buffer took over from another end with that buffer, though a third may live on in them; and
// what is never freed ends at the last event.
static uint32_t end_step(const struct builder *b, const struct heap_span *span) {
    if (b->view->scope == MEMORY_VIEW_EXACT) return span->end_step;
    uint32_t last_step = b->view->replay.step_count - 1;
    uint32_t end = span->is_shared ? span->own_end_step : span->end_step;
    return end < last_step ? end : last_step;
}

static void add_simulated_rows(struct builder *b, uint32_t *row_of_buffer) {
    const struct heap_replay *replay = &b->view->replay;
    if (!b->unpadded_of_buffer) return;  // nothing was simulated
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        row_of_buffer[span->buffer] = b->view->row_count;
        b->view->rows[b->view->row_count++] = (struct memory_buffer){
            .buffer = span->buffer,
            .allocation = b->module->allocation_of_buffer[span->buffer],
            .size_bytes = b->module->buffers[span->buffer].size_bytes,
            .unpadded_bytes = b->unpadded_of_buffer[span->buffer],
            .start_step = span->start_step,
            .end_step = end_step(b, span),
            .category = ALLOCATION_TEMPORARY,
        };
    }
}

// Rows know their allocation; the place inside it is written at the allocation's side.
static void set_offsets(struct builder *b, const uint32_t *row_of_buffer) {
    for (uint32_t i = 0; i < b->module->assigned_count; i++) {
        const struct hlo_assigned *assigned = &b->module->assigned[i];
        if (assigned->buffer == HLO_NONE || row_of_buffer[assigned->buffer] == HLO_NONE) continue;
        b->view->rows[row_of_buffer[assigned->buffer]].offset = assigned->offset;
    }
}

static bool build_rows(struct builder *b) {
    struct memory_view *view = b->view;
    const struct heap_replay *replay = &view->replay;
    size_t allocations = b->module->allocation_count;
    uint32_t *row_of_buffer = arena_push_raw(b->arena, b->module->buffer_count, sizeof *row_of_buffer);
    view->rows = arena_push_raw(b->arena, allocations + replay->span_count, sizeof *view->rows);
    view->at_peak = arena_push_raw(b->arena, allocations + replay->live_at_peak_count, sizeof *view->at_peak);
    if (!row_of_buffer || !view->rows || !view->at_peak) return too_big(b);
    if (b->module->buffer_count) memset(row_of_buffer, 0xff, b->module->buffer_count * sizeof *row_of_buffer);
    if (!add_indefinite_rows(b)) return false;
    add_simulated_rows(b, row_of_buffer);
    set_offsets(b, row_of_buffer);
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        view->at_peak[view->at_peak_count++] = row_of_buffer[replay->live_at_peak[i]];
    }
    return true;
}

// Temporary allocations of the space none of whose buffers the simulation saw: the compiler writes no trace for some.
static void count_unsimulated(struct builder *b) {
    bool *is_seen = arena_new(b->arena, bool, b->module->allocation_count);
    if (!is_seen) return;
    for (uint32_t i = b->view->indefinite_row_count; i < b->view->row_count; i++) {
        if (b->view->rows[i].allocation != HLO_NONE) is_seen[b->view->rows[i].allocation] = true;
    }
    for (uint32_t i = 0; i < b->module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &b->module->allocations[i];
        if (allocation->color != b->view->totals.space || allocation_is_indefinite(allocation) || is_seen[i]) continue;
        b->view->unsimulated_temporary_count++;
        b->view->unsimulated_temporary_bytes += allocation->size_bytes;
    }
}

// What is live at the unpadded curve's highest: a space of tuples or sub-byte values can have it above the padded one.
static int64_t highest_unpadded(const struct heap_replay *replay) {
    int64_t highest = 0;
    for (uint32_t i = 0; replay->unpadded_bytes && i <= replay->step_count; i++) {
        if (replay->unpadded_bytes[i] > highest) highest = replay->unpadded_bytes[i];
    }
    return highest;
}

// Whoever draws the view adds indefinite bytes to the curves: that must not overflow, whichever are added to which.
static bool curves_fit(const struct memory_view *view) {
    int64_t largest_base = view->indefinite_bytes > view->indefinite_unpadded_bytes ? view->indefinite_bytes
                                                                                    : view->indefinite_unpadded_bytes;
    int64_t sum;
    return !__builtin_add_overflow(largest_base, view->replay.peak_bytes, &sum) &&
           !__builtin_add_overflow(largest_base, highest_unpadded(&view->replay), &sum);
}

static bool sum_up(struct builder *b) {
    struct memory_view *view = b->view;
    const struct heap_replay *replay = &view->replay;
    if (!curves_fit(view)) return more_than_int64(b);
    view->peak_bytes = view->indefinite_bytes + replay->peak_bytes;
    view->peak_unpadded_bytes = view->indefinite_unpadded_bytes + replay->peak_unpadded_bytes;
    view->padding_bytes = view->peak_bytes - view->peak_unpadded_bytes;
    view->fragmentation_bytes = view->totals.bytes[ALLOCATION_TEMPORARY] - replay->peak_bytes;
    return true;
}

bool memory_view_build(const struct hlo_module *module, int64_t space, enum memory_view_scope scope,
                       struct arena *arena, struct memory_view *view, struct error *error) {
    struct builder b = {.module = module, .arena = arena, .view = view, .error = error};
    struct memory_totals_list totals;
    *view = (struct memory_view){.module = module, .scope = scope};
    if (!memory_totals_list(module, arena, &totals, error)) return false;
    view->totals = memory_totals_of(&totals, space);
    if (!wide_shapes_init(&b.wide_shapes, arena)) return too_big(&b);
    if (!simulate(&b) || !build_rows(&b) || !sum_up(&b)) return false;
    count_unsimulated(&b);
    return true;
}
