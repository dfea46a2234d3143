#include "analysis/profile/questions/step_growth.h"

#include <stdlib.h>

#include "analysis/profile/questions/held_bytes.h"
#include "analysis/profile/questions/memory_breakdown.h"
#include "analysis/profile/questions/site_ops.h"

// What is known of an op while the events go by. Steps before `settled` are in the sums; until the op moves again it
// holds `at_last_end` at the end of each further one.
struct op_state {
    int64_t held, at_last_end;
    uint32_t held_count;
    uint32_t settled;
    uint32_t touched_in;       // the step in which it moved last, counted from 1
    double sum, weighted_sum;  // of what is held at the ends of steps; times the number of the step
    bool has_held, has_allocated;
    struct growth_op growth;
};

struct sweep {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    struct site_ops ops;
    struct op_state *states;  // of each op
    uint32_t *touched;        // ops that moved in this step
    uint32_t touched_count;
    int64_t held;       // by all ops
    int64_t most_held;  // so far
    struct step_growth *growth;
};

// One event as an op sees it.
struct move {
    uint32_t op;
    int64_t bytes;  // negative for a free
};

static int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

// False for a free of something that nobody saw allocated.
static bool move_of(const struct sweep *s, uint32_t row, struct move *move) {
    const struct memory_timeline *t = s->timeline;
    bool is_free = memory_timeline_is_free(t, row);
    if (is_free && t->partner[row] >= row) return false;
    uint32_t site = t->site[is_free ? t->partner[row] : row];
    int64_t bytes = allocation_site_held_bytes(&s->profile->sites.sites[site]);
    *move = (struct move){s->ops.op_of_site[site], is_free ? minus(0, bytes) : bytes};
    return true;
}

// --- What each op holds at the end of each step ---

// It held `at_last_end` at the ends of the steps up to `end`.
static void settle(struct op_state *op, uint32_t end) {
    if (op->settled >= end) return;
    double steps = end - op->settled, first = op->settled;
    if (op->settled == 0) op->growth.first_bytes = op->at_last_end;
    if (end > 1 && op->growth.least_growth_bytes > 0) op->growth.least_growth_bytes = 0;
    op->sum += (double)op->at_last_end * steps;
    op->weighted_sum += (double)op->at_last_end * (first * steps + steps * (steps - 1) / 2);
    op->settled = end;
}

static void end_step(struct op_state *op, uint32_t step) {
    settle(op, step);
    int64_t growth = minus(op->held, op->at_last_end);
    if (step > 0) {
        op->growth.steps_growing += growth > 0;
        if (growth < op->growth.least_growth_bytes) op->growth.least_growth_bytes = growth;
    } else {
        op->growth.first_bytes = op->held;
    }
    op->at_last_end = op->held;
    op->has_held |= op->held != 0;
    op->sum += (double)op->held;
    op->weighted_sum += (double)op->held * step;
    op->settled = step + 1;
}

static void touch(struct sweep *s, uint32_t op, uint32_t step) {
    if (s->states[op].touched_in == step + 1) return;
    s->states[op].touched_in = step + 1;
    s->touched[s->touched_count++] = op;
}

static void apply(struct sweep *s, uint32_t row, uint32_t step) {
    struct move move;
    if (!move_of(s, row, &move)) return;
    struct op_state *op = &s->states[move.op];
    touch(s, move.op, step);
    op->held = plus(op->held, move.bytes);
    s->held = plus(s->held, move.bytes);
    if (s->held > s->most_held) s->most_held = s->held;
    if (memory_timeline_is_free(s->timeline, row)) {
        op->held_count--;
        return;
    }
    op->held_count++;
    op->growth.last_step = s->timeline->step[row];
    if (!op->has_allocated) op->growth.first_step = s->timeline->step[row];
    op->has_allocated = true;
}

static void go_through(struct sweep *s) {
    struct step_list *list = &s->growth->steps;
    uint32_t row = 0;
    for (uint32_t step = 0; step < list->count; step++) {
        for (; row < list->steps[step].end_row; row++) apply(s, row, step);
        for (uint32_t i = 0; i < s->touched_count; i++) end_step(&s->states[s->touched[i]], step);
        s->touched_count = 0;
        list->steps[step].held_bytes = s->held;
    }
    for (; row < s->timeline->count; row++) apply(s, row, list->count);
    s->growth->held_at_end_bytes = s->held;
}

// --- Slopes, and which of them are leaks ---

static double slope(const struct op_state *op, double steps) {
    if (steps < 2) return 0;
    double middle = (steps - 1) / 2;
    return (op->weighted_sum - middle * op->sum) / (steps * (steps * steps - 1) / 12);
}

static bool is_leak(const struct growth_op *op, uint32_t steps, double peak_bytes) {
    bool is_steady = steps >= STEP_GROWTH_MIN_STEPS && op->last_bytes > op->first_bytes &&
                     (uint64_t)op->steps_growing * 100 >= (uint64_t)(steps - 1) * STEP_GROWTH_STEADY_PERCENT;
    return is_steady && op->slope_bytes * STEP_GROWTH_AHEAD_STEPS >= peak_bytes * STEP_GROWTH_SHARE_PERCENT / 100;
}

// In use, as told or as seen.
static double peak_bytes(const struct sweep *s) {
    uint32_t peak = memory_breakdown_peak_row(s->profile, s->timeline);
    int64_t used = peak == MEMORY_EVENT_NONE ? 0 : memory_timeline_used_bytes(s->timeline, peak);
    return (double)(used > s->most_held ? used : s->most_held);
}

static void finish(struct sweep *s) {
    uint32_t steps = s->growth->steps.count;
    double peak = peak_bytes(s);
    for (uint32_t i = 0; i < s->ops.count; i++) {
        struct op_state *op = &s->states[i];
        settle(op, steps);
        op->growth.op = s->ops.names[i];
        op->growth.slope_bytes = slope(op, steps);
        op->growth.last_bytes = op->at_last_end;
        op->growth.held_at_end_bytes = op->held;
        op->growth.held_at_end_count = op->held_count;
        op->growth.is_leak = is_leak(&op->growth, steps, peak);
        s->growth->leak_count += op->growth.is_leak;
        if (op->growth.is_leak) s->growth->leak_slope_bytes += op->growth.slope_bytes;
    }
}

// --- What is shown ---

// Neighbours become one entry: the last of them, with the counts of all.
static void merge_steps(struct step_growth *growth) {
    struct step_list *list = &growth->steps;
    growth->all_step_count = list->count;
    growth->merged_per_entry = list->count / STEP_GROWTH_MAX_STEPS + (list->count % STEP_GROWTH_MAX_STEPS != 0);
    if (growth->merged_per_entry <= 1) {
        growth->merged_per_entry = 1;
        return;
    }
    uint32_t merged = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct memory_step next = list->steps[i];
        if (i % growth->merged_per_entry) {
            const struct memory_step *before = &list->steps[--merged];
            next.allocations += before->allocations;
            next.frees += before->frees;
            if (before->begin_ps < next.begin_ps) next.begin_ps = before->begin_ps;
            if (before->peak_bytes > next.peak_bytes) next.peak_bytes = before->peak_bytes;
        }
        list->steps[merged++] = next;
    }
    list->count = merged;
}

static int by_growth(const void *a, const void *b) {
    const struct growth_op *x = a, *y = b;
    if (x->is_leak != y->is_leak) return x->is_leak ? -1 : 1;
    if (x->slope_bytes != y->slope_bytes) return x->slope_bytes > y->slope_bytes ? -1 : 1;
    if (x->held_at_end_bytes != y->held_at_end_bytes) return x->held_at_end_bytes > y->held_at_end_bytes ? -1 : 1;
    return bytes_compare(x->op, y->op);
}

static bool choose_ops(struct sweep *s, struct arena *arena) {
    struct step_growth *growth = s->growth;
    growth->ops = arena_push_raw(arena, s->ops.count, sizeof *growth->ops);
    if (!growth->ops) return false;
    for (uint32_t i = 0; i < s->ops.count; i++) {
        if (s->states[i].has_held) growth->ops[growth->op_count++] = s->states[i].growth;
    }
    if (growth->op_count) qsort(growth->ops, growth->op_count, sizeof *growth->ops, by_growth);
    if (growth->op_count > STEP_GROWTH_MAX_OPS) {
        growth->left_out = growth->op_count - STEP_GROWTH_MAX_OPS;
        growth->op_count = STEP_GROWTH_MAX_OPS;
    }
    return true;
}

// The columns of the chosen ops, by a second walk; `touched` says where the column of an op is.
static bool fill_columns(struct sweep *s, struct arena *arena) {
    struct step_growth *growth = s->growth;
    const struct step_list *list = &growth->steps;
    int64_t held[STEP_GROWTH_MAX_OPS] = {0};
    for (uint32_t i = 0; i < s->ops.count; i++) s->touched[i] = MEMORY_EVENT_NONE;
    for (uint32_t i = 0; i < growth->op_count; i++) {
        growth->ops[i].held_bytes = arena_push_raw(arena, list->count, sizeof *growth->ops[i].held_bytes);
        if (!growth->ops[i].held_bytes) return false;
        s->touched[growth->ops[i].number] = i;
    }
    uint32_t row = 0;
    for (uint32_t step = 0; step < list->count; step++) {
        for (struct move move; row < list->steps[step].end_row; row++) {
            if (!move_of(s, row, &move) || s->touched[move.op] == MEMORY_EVENT_NONE) continue;
            held[s->touched[move.op]] = plus(held[s->touched[move.op]], move.bytes);
        }
        for (uint32_t i = 0; i < growth->op_count; i++) growth->ops[i].held_bytes[step] = held[i];
    }
    return true;
}

bool step_growth_make(const struct memory_profile *profile, const struct memory_timeline *timeline, struct arena *arena,
                      struct step_growth *growth, struct error *error) {
    *growth = (struct step_growth){0};
    struct sweep s = {.profile = profile, .timeline = timeline, .growth = growth};
    if (!step_list_make(profile, timeline, arena, &growth->steps, error) ||
        !site_ops_make(&profile->sites, arena, &s.ops, error)) {
        return false;
    }
    s.states = arena_new(arena, struct op_state, s.ops.count);
    s.touched = arena_push_raw(arena, s.ops.count, sizeof *s.touched);
    bool has_room = s.states && s.touched;
    if (has_room) {
        for (uint32_t i = 0; i < s.ops.count; i++) {
            s.states[i].growth.number = i;
            s.states[i].growth.least_growth_bytes = INT64_MAX;
        }
        go_through(&s);
        finish(&s);
        merge_steps(growth);
        has_room = choose_ops(&s, arena) && fill_columns(&s, arena);
    }
    return has_room || error_set(error, ERROR_TOO_BIG, "no memory left to follow %u ops through %u steps", s.ops.count,
                                 growth->steps.count);
}

const struct growth_op *step_growth_worst(const struct step_growth *growth) {
    return growth->op_count && growth->ops[0].is_leak ? &growth->ops[0] : NULL;
}
