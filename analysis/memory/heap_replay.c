#include "analysis/memory/heap_replay.h"

#define NONE HLO_NONE

// What is known of each logical buffer while the trace is replayed: columns, one entry a buffer.
struct replayer {
    const struct hlo_module *module;
    const int64_t *unpadded_of_buffer;
    struct heap_replay *replay;
    struct error *error;
    int32_t *references;  // of a root: itself and those that share its bytes
    uint32_t *canonical;  // whose bytes it shares, or NONE
    uint32_t *span_of;    // index into replay->spans, or NONE
    uint32_t *stay_of;    // of a root: its latest stay, or NONE
    int64_t heap_bytes, unpadded_bytes;
    uint32_t step;
};

static uint32_t *new_column(struct arena *arena, uint32_t count) {
    uint32_t *column = arena_push_raw(arena, count, sizeof *column);
    if (column && count) memset(column, 0xff, count * sizeof *column);
    return column;
}

static bool make_columns(struct replayer *r, struct arena *arena, uint32_t event_count) {
    uint32_t buffers = r->module->buffer_count;
    uint32_t most_spans = buffers < event_count ? buffers : event_count;
    struct heap_replay *replay = r->replay;
    r->references = arena_new(arena, int32_t, buffers);
    r->canonical = new_column(arena, buffers);
    r->span_of = new_column(arena, buffers);
    r->stay_of = new_column(arena, buffers);
    replay->stays = arena_push_raw(arena, event_count, sizeof *replay->stays);
    replay->heap_bytes = arena_push_raw(arena, (size_t)event_count + 1, sizeof *replay->heap_bytes);
    replay->unpadded_bytes = arena_push_raw(arena, (size_t)event_count + 1, sizeof *replay->unpadded_bytes);
    replay->instruction_names = arena_push_raw(arena, (size_t)event_count + 1, sizeof *replay->instruction_names);
    replay->spans = arena_push_raw(arena, most_spans, sizeof *replay->spans);
    if (r->references && r->canonical && r->span_of && r->stay_of && replay->stays && replay->heap_bytes &&
        replay->unpadded_bytes && replay->instruction_names && replay->spans) {
        return true;
    }
    return error_set(r->error, ERROR_TOO_BIG,
                     "the heap simulator trace of %u events needs more memory than one view may take", event_count);
}

static bool find_root(struct replayer *r, uint32_t buffer, uint32_t *root) {
    for (int i = 0; i < HEAP_SHARE_CHAIN_MAX; i++) {
        if (r->canonical[buffer] == NONE) {
            *root = buffer;
            return true;
        }
        buffer = r->canonical[buffer];
    }
    return error_set(
        r->error, ERROR_MALFORMED,
        "heap simulator event %u: the SHARE_WITH chain of logical buffer %lld is a cycle or longer than %d", r->step,
        (long long)r->module->buffers[buffer].id, HEAP_SHARE_CHAIN_MAX);
}

static int64_t unpadded_bytes(const struct replayer *r, uint32_t buffer) {
    int64_t unpadded = r->unpadded_of_buffer ? r->unpadded_of_buffer[buffer] : 0;
    return unpadded < 0 ? r->module->buffers[buffer].size_bytes : unpadded;
}

static bool has_stay(const struct replayer *r, uint32_t root) {
    return r->stay_of[root] != NONE && r->replay->stays[r->stay_of[root]].end_step == r->replay->step_count;
}

static void start_span(struct replayer *r, uint32_t buffer, bool is_shared) {
    if (r->span_of[buffer] == NONE) r->span_of[buffer] = r->replay->span_count++;
    uint32_t never = r->replay->step_count;
    r->replay->spans[r->span_of[buffer]] = (struct heap_span){
        .buffer = buffer, .start_step = r->step, .end_step = never, .own_end_step = never, .is_shared = is_shared};
}

// `root` takes its bytes, shown as `buffer`.
static bool increase(struct replayer *r, uint32_t root, uint32_t buffer) {
    if (__builtin_add_overflow(r->heap_bytes, r->module->buffers[root].size_bytes, &r->heap_bytes) ||
        __builtin_add_overflow(r->unpadded_bytes, unpadded_bytes(r, root), &r->unpadded_bytes)) {
        return error_set(r->error, ERROR_MALFORMED, "heap simulator event %u: more than 2^63 bytes are live", r->step);
    }
    if (!has_stay(r, root)) {
        r->stay_of[root] = r->replay->stay_count;
        r->replay->stays[r->replay->stay_count++] = (struct heap_stay){
            .span = r->span_of[buffer], .root = root, .start_step = r->step, .end_step = r->replay->step_count};
    }
    if (r->heap_bytes <= r->replay->peak_bytes) return true;
    r->replay->peak_bytes = r->heap_bytes;
    r->replay->peak_unpadded_bytes = r->unpadded_bytes;
    r->replay->peak_position = r->step;
    return true;
}

static bool decrease(struct replayer *r, uint32_t root) {
    r->heap_bytes -= r->module->buffers[root].size_bytes;
    r->unpadded_bytes -= unpadded_bytes(r, root);
    if (r->heap_bytes < 0) {
        return error_set(r->error, ERROR_MALFORMED, "heap simulator event %u frees more bytes than are live", r->step);
    }
    if (!has_stay(r, root)) return true;
    struct heap_stay *stay = &r->replay->stays[r->stay_of[root]];
    stay->end_step = r->step;
    r->replay->spans[stay->span].end_step = r->step;
    return true;
}

static bool on_alloc(struct replayer *r, uint32_t buffer) {
    uint32_t root;
    if (!find_root(r, buffer, &root)) return false;
    r->references[root]++;
    start_span(r, buffer, false);
    return increase(r, root, buffer);
}

static bool on_free(struct replayer *r, uint32_t buffer) {
    uint32_t root;
    if (!find_root(r, buffer, &root)) return false;
    if (--r->references[root] < 0) {
        return error_set(r->error, ERROR_MALFORMED,
                         "heap simulator event %u frees logical buffer %lld, which is not live", r->step,
                         (long long)r->module->buffers[buffer].id);
    }
    if (r->span_of[buffer] != NONE) r->replay->spans[r->span_of[buffer]].own_end_step = r->step;
    return r->references[root] > 0 || decrease(r, root);
}

// When the bytes were free already (the count becomes one), they are taken again, now under the sharer's name.
static bool on_share(struct replayer *r, uint32_t buffer, uint32_t canonical) {
    uint32_t root;
    if (canonical == NONE) return true;
    if (!find_root(r, canonical, &root)) return false;
    if (root != buffer) r->canonical[buffer] = canonical;
    if (++r->references[root] > 1) return true;
    start_span(r, buffer, true);
    return increase(r, root, buffer);
}

static bool apply(struct replayer *r, const struct hlo_event *event) {
    if (event->buffer == NONE) return true;
    switch ((enum hlo_event_kind)event->kind) {
        case HLO_EVENT_ALLOC:
            return on_alloc(r, event->buffer);
        case HLO_EVENT_FREE:
            return on_free(r, event->buffer);
        case HLO_EVENT_SHARE_WITH:
            return on_share(r, event->buffer, event->canonical);
    }
    return true;
}

static void note_step(struct replayer *r, struct bytes instruction_name) {
    r->replay->heap_bytes[r->step] = r->heap_bytes;
    r->replay->unpadded_bytes[r->step] = r->unpadded_bytes;
    r->replay->instruction_names[r->step] = instruction_name;
}

static bool list_live_at_peak(struct replayer *r, struct arena *arena) {
    struct heap_replay *replay = r->replay;
    replay->live_at_peak = arena_push_raw(arena, replay->stay_count, sizeof *replay->live_at_peak);
    if (!replay->live_at_peak) return error_set(r->error, ERROR_TOO_BIG, "no memory left for the buffers at the peak");
    for (uint32_t i = 0; i < replay->stay_count && replay->peak_bytes > 0; i++) {
        const struct heap_stay *stay = &replay->stays[i];
        bool is_live = stay->start_step <= replay->peak_position && stay->end_step > replay->peak_position;
        if (is_live) replay->live_at_peak[replay->live_at_peak_count++] = replay->spans[stay->span].buffer;
    }
    return true;
}

bool heap_replay_run(const struct hlo_module *module, struct heap_events events, const int64_t *unpadded_of_buffer,
                     struct arena *arena, struct heap_replay *replay, struct error *error) {
    *replay = (struct heap_replay){.step_count = events.count};
    struct replayer r = {.module = module, .unpadded_of_buffer = unpadded_of_buffer, .replay = replay, .error = error};
    if (!make_columns(&r, arena, events.count)) return false;
    for (; r.step < events.count; r.step++) {
        note_step(&r, events.events[r.step].instruction_name);
        if (!apply(&r, &events.events[r.step])) return false;
    }
    note_step(&r, (struct bytes){0});
    return list_live_at_peak(&r, arena);
}
