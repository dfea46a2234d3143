#include "analysis/profile/questions/memory_breakdown.h"

#include <stdlib.h>

#include "analysis/profile/questions/held_bytes.h"

// What is counted of one site while the events go by.
struct site_count {
    uint32_t occurrences, of_this_step;
    uint32_t first_row;
    int64_t first_step, last_step;
};

static int64_t times(uint32_t count, int64_t bytes) {
    return (int64_t)(count * (uint64_t)bytes);
}

static int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static bool has_state(const struct memory_timeline *timeline, uint32_t row) {
    return timeline->flags[row] & MEMORY_EVENT_HAS_STATE;
}

static uint32_t told_peak_row(const struct memory_timeline *t) {
    uint32_t peak = MEMORY_EVENT_NONE;
    int64_t most = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t used = memory_timeline_used_bytes(t, i);
        if (!has_state(t, i) || (peak != MEMORY_EVENT_NONE && used <= most)) continue;
        peak = i;
        most = used;
    }
    return peak;
}

static uint32_t held_peak_row(const struct memory_profile *profile, const struct memory_timeline *t) {
    uint32_t peak = MEMORY_EVENT_NONE;
    int64_t most = 0, held = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t bytes = allocation_site_held_bytes(memory_timeline_site(profile, t, i));
        bool is_free = memory_timeline_is_free(t, i);
        if (!is_free) held = plus(held, bytes);
        if (is_free && t->partner[i] != MEMORY_EVENT_NONE) held = minus(held, bytes);
        if (peak != MEMORY_EVENT_NONE && held <= most) continue;
        peak = i;
        most = held;
    }
    return peak;
}

uint32_t memory_breakdown_peak_row(const struct memory_profile *profile, const struct memory_timeline *timeline) {
    uint32_t peak = timeline_tells(timeline).usage ? told_peak_row(timeline) : MEMORY_EVENT_NONE;
    return peak == MEMORY_EVENT_NONE ? held_peak_row(profile, timeline) : peak;
}

bool memory_breakdown_peak_recurs(const struct memory_timeline *timeline, uint32_t peak) {
    int64_t most = memory_timeline_used_bytes(timeline, peak);
    for (uint32_t i = peak + 1; i < timeline->count; i++) {
        if (has_state(timeline, i) && memory_timeline_used_bytes(timeline, i) == most) return true;
    }
    return false;
}

uint32_t memory_breakdown_row_at(const struct memory_timeline *timeline, int64_t time_ps) {
    uint32_t next = time_ps == INT64_MAX ? timeline->count : memory_timeline_row_at(timeline, time_ps + 1);
    return next ? next - 1 : 0;
}

static void count_one(struct site_count *count, uint32_t row, int64_t step, bool is_of_this_step) {
    if (!count->occurrences++) *count = (struct site_count){1, 0, row, step, step};
    if (step < count->first_step) count->first_step = step;
    if (step > count->last_step) count->last_step = step;
    count->of_this_step += is_of_this_step;
}

static void count_alive(const struct memory_timeline *t, uint32_t row, struct site_count *counts) {
    int64_t this_step = t->step[row];
    for (uint32_t i = 0; i <= row; i++) {
        bool is_alive = !memory_timeline_is_free(t, i) && t->partner[i] > row;
        if (is_alive) count_one(&counts[t->site[i]], i, t->step[i], t->step[i] == this_step);
    }
}

static void add_row(struct memory_breakdown *b, uint32_t site, const struct site_count *count, int64_t held_bytes) {
    b->rows[b->row_count++] = (struct memory_breakdown_row){
        .site = site,
        .occurrences = count->occurrences,
        .total_bytes = times(count->occurrences, held_bytes),
        .first_row = count->first_row,
        .first_step = count->first_step,
        .last_step = count->last_step,
        .is_of_this_step = count->of_this_step > 0,
    };
    b->explained_bytes = plus(b->explained_bytes, times(count->occurrences, held_bytes));
    b->step_bytes = plus(b->step_bytes, times(count->of_this_step, held_bytes));
    b->step_row_count += count->of_this_step > 0;
}

static int by_size(const void *a, const void *b) {
    const struct memory_breakdown_row *x = a, *y = b;
    if (x->total_bytes != y->total_bytes) return x->total_bytes > y->total_bytes ? -1 : 1;
    return (x->first_row > y->first_row) - (x->first_row < y->first_row);
}

bool memory_breakdown_make(const struct memory_profile *profile, const struct memory_timeline *timeline, uint32_t row,
                           struct arena *arena, struct memory_breakdown *breakdown, struct error *error) {
    const struct allocation_sites *sites = &profile->sites;
    *breakdown = (struct memory_breakdown){.row = row, .is_peak = row == memory_breakdown_peak_row(profile, timeline)};
    struct site_count *counts = arena_new(arena, struct site_count, sites->count);
    uint32_t row_count = 0;
    if (counts) {
        count_alive(timeline, row, counts);
        for (uint32_t i = 0; i < sites->count; i++) row_count += counts[i].occurrences > 0;
        breakdown->rows = arena_push_raw(arena, row_count, sizeof *breakdown->rows);
    }
    if (!breakdown->rows) {
        return error_set(error, ERROR_TOO_BIG, "no memory left to merge %u allocation sites", sites->count);
    }
    for (uint32_t i = 0; i < sites->count; i++) {
        if (counts[i].occurrences) add_row(breakdown, i, &counts[i], allocation_site_held_bytes(&sites->sites[i]));
    }
    if (row_count) qsort(breakdown->rows, row_count, sizeof *breakdown->rows, by_size);
    breakdown->heap_is_told = has_state(timeline, row) && timeline_tells(timeline).usage;
    breakdown->heap_bytes = breakdown->heap_is_told ? timeline->heap_bytes[row] : breakdown->explained_bytes;
    breakdown->unexplained_bytes = minus(breakdown->heap_bytes, breakdown->explained_bytes);
    return true;
}
