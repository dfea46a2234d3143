#include "analysis/advice/advise_together.h"

#include <stdlib.h>

#include "analysis/advice/advice_cost.h"

enum { BY_SIZES_NOT = 1u << ADVICE_DONATE_INPUTS | 1u << ADVICE_HOST_OFFLOAD_OPTIMIZER };

// --- One set ---

static void resize(struct advisor *advisor, const int64_t *by, int64_t *sizes) {
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        int64_t now = advisor->module->buffers[i].size_bytes;
        if (by[i] == now) continue;
        sizes[i] = now > 0 ? what_if_bytes((double)sizes[i] * ((double)by[i] / (double)now)) : by[i];
    }
}

static bool is_input_in_hbm(const struct advisor *advisor, const struct entry_input *input) {
    if (input->allocation == HLO_NONE) return false;
    const struct hlo_allocation *a = &advisor->module->allocations[input->allocation];
    return a->color == 0 && !a->is_thread_local;
}

// Of inputs, and of the outputs that mirror them, what is donated or on the host, as large as it is with `sizes`.
static int64_t state_that_goes(const struct advisor *advisor, unsigned set, const int64_t *sizes) {
    double gone = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        if (!is_input_in_hbm(advisor, input)) continue;
        bool is_donated = advice_set_has(set, ADVICE_DONATE_INPUTS) && advisor->donations[i] == DONATION_FREES;
        bool is_on_host = advice_set_has(set, ADVICE_HOST_OFFLOAD_OPTIMIZER) && input->is_state &&
                          !advisor_is_weight(advisor, i);
        double copies = is_donated ? 1 : 0, left = input->is_donated || is_donated ? 1 : 2;
        if (is_on_host) copies += left * advisor->offloaded_part;
        const struct hlo_allocation *a = &advisor->module->allocations[input->allocation];
        gone += copies * (double)what_if_resized(advisor->what_if.module, a, sizes);
    }
    return what_if_bytes(gone);
}

// The part of today's temporaries that a change leaves by itself.
static double part_left(const struct advisor *advisor, enum advice_id id) {
    const struct what_if_result *told = &advisor->told[id];
    int64_t now = advisor->what_if.temporary_bytes, then = told->total_bytes - told->indefinite_bytes;
    return now > 0 && then < now ? (double)(then > 0 ? then : 0) / (double)now : 1;
}

// What the change's prediction has beyond the replay of its sizes, less where another change leaves less.
static int64_t beyond_replay(const struct advisor *advisor, unsigned set, enum advice_id id) {
    const struct what_if_result *told = &advisor->told[id];
    double least = 1;
    for (int other = 0; other < ADVICE_CHANGE_COUNT; other++) {
        if (other == (int)id || !advice_set_has(set, (enum advice_id)other)) continue;
        double part = part_left(advisor, (enum advice_id)other);
        if (part < least) least = part;
    }
    int64_t driven_out = advice_set_has(set, ADVICE_DONATE_INPUTS) ? told->lodged_bytes : 0;
    return what_if_bytes((double)(told->total_bytes - told->replayed_total_bytes + driven_out) * least);
}

static int64_t bounded(const struct advice *advice, unsigned set, int64_t total) {
    int64_t least = advice->total_bytes, most = advice->total_bytes;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (!advice_set_has(set, (enum advice_id)id)) continue;
        if (least > 0) least -= advice->items[id].touched_bytes;
        if (most < INT64_MAX / 2) most += advice->items[id].added_bytes;
    }
    if (least < 0) least = 0;
    return total < least ? least : total > most ? most : total;
}

static bool predict(struct advisor *advisor, const struct advice *advice, unsigned set, int64_t *sizes, int64_t *total,
                    struct arena *scratch) {
    bool is_driven_out = advice_set_has(set, ADVICE_DONATE_INPUTS) && !advisor_lodges_caches(advisor);
    struct what_if_change change = {.sizes = sizes, .has_room = is_driven_out};
    struct what_if_result together;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) sizes[i] = advisor->module->buffers[i].size_bytes;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        const int64_t *by = advisor->told[id].sizes;
        if (advice_set_has(set, (enum advice_id)id) && by) resize(advisor, by, sizes);
    }
    if (!what_if_run(&advisor->what_if, &change, scratch, &together, advisor->error)) return false;
    int64_t bytes = together.total_bytes - state_that_goes(advisor, set, sizes);
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (advice_set_has(set & ~(unsigned)BY_SIZES_NOT, (enum advice_id)id))
            bytes += beyond_replay(advisor, set, (enum advice_id)id);
    }
    *total = bounded(advice, set, bytes);
    return true;
}

// --- All that are worth asking ---

struct asked {
    unsigned set;
    int count, points;
};

static int fewest_and_cheapest_first(const void *left, const void *right) {
    const struct asked *a = left, *b = right;
    if (a->count != b->count) return (a->count > b->count) - (a->count < b->count);
    if (a->points != b->points) return (a->points > b->points) - (a->points < b->points);
    return (a->set > b->set) - (a->set < b->set);
}

// Of the useful changes, each set of two or more that is sensible. NULL: no memory.
static struct asked *list_sets(const struct advisor *advisor, const struct advice *advice, size_t *count) {
    unsigned useful = advice_set_useful(advice);
    struct asked *list = arena_push_raw(advisor->arena, (size_t)1 << advice_set_count(useful), sizeof *list);
    *count = 0;
    for (unsigned set = useful; list && set; set = (set - 1) & useful) {
        if (advice_set_is_single(set) || !advice_set_is_sensible(advice, set)) continue;
        int points = advice_cost_points(advice_cost_of(advice, set));
        list[(*count)++] = (struct asked){set, advice_set_count(set), points};
    }
    if (list) qsort(list, *count, sizeof *list, fewest_and_cheapest_first);
    return list;
}

// The most that lodging took, as the program is and after each change: that may be much more.
static size_t lodging_visits(const struct advisor *advisor) {
    int64_t most = advisor->what_if.lodging_visits;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (advisor->told[id].lodging_visits > most) most = advisor->told[id].lodging_visits;
    }
    return (size_t)most;
}

static size_t affordable(const struct advisor *advisor, size_t count) {
    size_t cost = (size_t)advisor->what_if.replay.step_count + advisor->module->buffer_count +
                  (size_t)advisor->what_if.temporaries.packing_visits + lodging_visits(advisor) + 1;
    size_t most = TOGETHER_COST_MAX / cost;
    return count < most ? count : most;
}

static bool ask(struct advisor *advisor, struct advice *advice, unsigned set, int64_t *sizes) {
    struct arena scratch;
    int64_t total = 0;
    arena_init(&scratch, advisor->arena->limit_bytes);
    bool is_good = predict(advisor, advice, set, sizes, &total, &scratch);
    arena_free(&scratch);
    if (is_good) advice->together[advice->together_count++] = (struct advice_together){set, total};
    return is_good;
}

bool advise_together(struct advisor *advisor, struct advice *advice) {
    size_t count = 0;
    struct asked *list = list_sets(advisor, advice, &count);
    int64_t *sizes = advisor_sizes(advisor);
    count = affordable(advisor, count);
    advice->together = arena_push_raw(advisor->kept, count, sizeof *advice->together);
    if (!list || !sizes || !advice->together)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left to join %zu sets of changes", count);
    for (size_t i = 0; i < count; i++) {
        if (!ask(advisor, advice, list[i].set, sizes)) return false;
    }
    qsort(advice->together, advice->together_count, sizeof *advice->together, advice_together_order);
    return true;
}
