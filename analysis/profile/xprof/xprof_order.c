#include "analysis/profile/xprof/xprof_order.h"

#include <stdlib.h>

#include "analysis/profile/events/free_matching.h"

int64_t xprof_order_time_ps(const struct xprof_order *order, uint32_t row) {
    const struct memory_timeline *timeline = order->timeline;
    int64_t begin_ps = order->profile->threads[timeline->thread[row]].begin_ps;
    return (int64_t)((uint64_t)timeline->time_ps[row] - (uint64_t)begin_ps);
}

const struct allocation_site *xprof_order_texts(const struct xprof_order *order, uint32_t row) {
    const struct memory_timeline *timeline = order->timeline;
    bool is_known_free = memory_timeline_is_free(timeline, row) && order->allocation[row] != MEMORY_EVENT_NONE;
    return &order->profile->sites.sites[timeline->site[is_known_free ? order->allocation[row] : row]];
}

// --- Order ---

struct placed_event {
    int64_t time_ps;
    uint32_t thread;  // threads are numbered in the file's order, and rows of one thread are in it
    uint32_t row;
};

static int compare_placed(const void *left, const void *right) {
    const struct placed_event *a = left, *b = right;
    if (a->time_ps != b->time_ps) return a->time_ps < b->time_ps ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool sort_rows(struct xprof_order *order, struct arena *arena) {
    const struct memory_timeline *timeline = order->timeline;
    struct placed_event *events = arena_push_raw(arena, timeline->count, sizeof *events);
    uint32_t *rows = arena_push_raw(arena, timeline->count, sizeof *rows);
    if (!events || !rows) return false;
    for (uint32_t i = 0; i < timeline->count; i++) {
        events[i] = (struct placed_event){xprof_order_time_ps(order, i), timeline->thread[i], i};
    }
    qsort(events, timeline->count, sizeof *events, compare_placed);
    for (uint32_t i = 0; i < timeline->count; i++) rows[i] = events[i].row;
    order->rows = rows;
    return true;
}

// --- Steps ---

// An event without a step belongs to the one after the last that was known; before any was, to step 0.
static bool complete_steps(struct xprof_order *order, struct arena *arena) {
    const struct memory_timeline *timeline = order->timeline;
    int64_t *steps = arena_push_raw(arena, timeline->count, sizeof *steps), last = -1;
    if (!steps) return false;
    for (uint32_t place = 0; place < timeline->count; place++) {
        uint32_t row = xprof_order_row(order, place);
        bool is_completed = timeline->flags[row] & MEMORY_EVENT_STEP_IS_COMPLETED;
        if (!is_completed) last = timeline->step[row];
        steps[row] = is_completed ? (int64_t)((uint64_t)last + 1) : last;
    }
    order->step = steps;
    return true;
}

// --- Matching ---

// The first allocation at an address stands until it is freed; one that comes on top of it is not taken note of.
static bool match_frees(struct xprof_order *order, struct arena *arena) {
    const struct memory_timeline *timeline = order->timeline;
    uint32_t *allocation = arena_push_raw(arena, timeline->count, sizeof *allocation);
    struct id_map alive_at;
    if (!allocation || !id_map_init(&alive_at, arena, ADDRESSES_EXPECTED)) return false;
    for (uint32_t place = 0; place < timeline->count; place++) {
        uint32_t row = xprof_order_row(order, place);
        uint32_t *there = allocation_at(&alive_at, timeline->address[row]);
        if (!there) return false;
        bool is_free = memory_timeline_is_free(timeline, row);
        bool is_alive = *there != NOTHING_ALIVE;
        allocation[row] = is_free && is_alive ? *there : MEMORY_EVENT_NONE;
        if (is_free || !is_alive) *there = is_free ? NOTHING_ALIVE : row;
    }
    order->allocation = allocation;
    return true;
}

bool xprof_order_build(const struct memory_profile *profile, const struct memory_timeline *timeline,
                       struct arena *arena, struct xprof_order *order, struct error *error) {
    *order = (struct xprof_order){profile, timeline, NULL, timeline->step, timeline->partner};
    bool is_time_order = profile->lines_start_together;
    bool is_good = is_time_order || (sort_rows(order, arena) && complete_steps(order, arena));
    if (is_good && !(is_time_order && timeline->reused_address_count == 0)) is_good = match_frees(order, arena);
    return is_good || error_set(error, ERROR_TOO_BIG, "no memory left to order the events as XProf does");
}
