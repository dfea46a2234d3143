#include "analysis/profile/xprof/xprof_breakdown.h"

#include <stdlib.h>

#include "analysis/profile/events/data_type_name.h"
#include "analysis/profile/events/free_matching.h"

// Sums wrap: sizes come from files.
static int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

// --- What is active ---

struct replay {
    const struct xprof_order *order;
    struct id_map active;    // places of allocations, by address
    int64_t unmapped_bytes;  // of the heap at the peak: no allocation of this step explains them
};

// A free of what this step did not allocate changes nothing: that memory is not in the heap at the peak.
static bool replay_event(struct replay *replay, uint32_t place) {
    const struct memory_timeline *timeline = replay->order->timeline;
    uint32_t row = xprof_order_row(replay->order, place);
    int64_t bytes = replay->order->profile->sites.sites[timeline->site[row]].allocated_bytes;
    uint32_t *there = allocation_at(&replay->active, timeline->address[row]);
    if (!there) return false;
    if (!memory_timeline_is_free(timeline, row)) {
        replay->unmapped_bytes = minus(replay->unmapped_bytes, bytes);
        *there = place;
        return true;
    }
    if (*there != NOTHING_ALIVE) replay->unmapped_bytes = plus(replay->unmapped_bytes, bytes);
    *there = NOTHING_ALIVE;
    return true;
}

static bool replay_step(struct replay *replay, const struct xprof_peak_place *peak) {
    const struct xprof_order *order = replay->order;
    for (uint32_t place = 0; place < order->timeline->count; place++) {
        uint32_t row = xprof_order_row(order, place);
        if (xprof_order_time_ps(order, row) > peak->time_ps) break;
        if (order->step[row] == peak->step && !replay_event(replay, place)) return false;
    }
    return true;
}

// --- Rows ---

// One allocation that is active.
struct active_event {
    uint32_t site, place;
};

struct active_events {
    struct active_event *items;
    uint32_t count;
};

struct candidate {
    const struct allocation_site *site;
    uint32_t first_place;  // MEMORY_EVENT_NONE for a special one
    int32_t special;
    uint32_t count;
};

struct candidates {
    struct candidate *items;
    uint32_t count;
};

static int compare_active(const void *left, const void *right) {
    const struct active_event *a = left, *b = right;
    if (a->site != b->site) return a->site < b->site ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

// By site, and of one site by place.
static bool list_active(const struct replay *replay, struct arena *arena, struct active_events *active) {
    const struct xprof_order *order = replay->order;
    active->items = arena_push_raw(arena, replay->active.count + 1, sizeof *active->items);
    if (!active->items) return false;
    for (size_t i = 0; i <= replay->active.mask; i++) {
        uint32_t place = replay->active.slots[i].value;
        if (place >= NOTHING_ALIVE) continue;
        uint32_t site = order->timeline->site[xprof_order_row(order, place)];
        active->items[active->count++] = (struct active_event){site, place};
    }
    if (active->count) qsort(active->items, active->count, sizeof *active->items, compare_active);
    return true;
}

static uint32_t count_sites(const struct active_events *active) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < active->count; i++) count += i == 0 || active->items[i].site != active->items[i - 1].site;
    return count;
}

// One for each active site, with room for the special ones.
static bool collect_candidates(const struct replay *replay, struct arena *arena, struct candidates *list) {
    struct active_events active = {0};
    if (!list_active(replay, arena, &active)) return false;
    list->items = arena_new(arena, struct candidate, (size_t)count_sites(&active) + XPROF_SPECIAL_MAX);
    if (!list->items) return false;
    for (uint32_t i = 0; i < active.count; i++) {
        const struct active_event *event = &active.items[i];
        if (i == 0 || event->site != event[-1].site) {
            list->items[list->count++] = (struct candidate){.site = &replay->order->profile->sites.sites[event->site],
                                                            .first_place = event->place,
                                                            .special = XPROF_NOT_SPECIAL};
        }
        list->items[list->count - 1].count++;
    }
    return true;
}

static void add_special(struct xprof_breakdown *breakdown, struct candidates *list, struct bytes op,
                        struct bytes region_type, int64_t size_bytes) {
    if (size_bytes <= 0) return;
    uint32_t index = breakdown->special_count++;
    struct allocation_site *site = &breakdown->specials[index];
    *site = (struct allocation_site){.op = op,
                                     .region_type = region_type,
                                     .shape = BYTES("unknown"),
                                     .data_type = 0,
                                     .requested_bytes = size_bytes,
                                     .allocated_bytes = size_bytes};
    list->items[list->count++] = (struct candidate){
        .site = site, .first_place = MEMORY_EVENT_NONE, .special = (int32_t)index, .count = 1};
}

static int larger_first(int64_t a, int64_t b) {
    return (a < b) - (a > b);
}

// XProf compares names of data types, not numbers.
static int compare_data_types(const struct candidate *a, const struct candidate *b) {
    if (a->site->data_type == b->site->data_type) return 0;
    char buffer_a[DATA_TYPE_NAME_BYTES], buffer_b[DATA_TYPE_NAME_BYTES];
    return strcmp(data_type_name(a->site->data_type, buffer_a), data_type_name(b->site->data_type, buffer_b));
}

static int compare_shown(const struct candidate *a, const struct candidate *b) {
    int order = larger_first(a->site->allocated_bytes, b->site->allocated_bytes);
    if (!order) order = larger_first(a->site->requested_bytes, b->site->requested_bytes);
    if (!order) order = bytes_compare(a->site->op, b->site->op);
    if (!order) order = bytes_compare(a->site->region_type, b->site->region_type);
    if (!order) order = compare_data_types(a, b);
    return order ? order : bytes_compare(a->site->shape, b->site->shape);
}

static int compare_candidates(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    int order = compare_shown(a, b);
    if (order) return order;
    if (a->first_place != b->first_place) return a->first_place < b->first_place ? -1 : 1;
    return (a->special > b->special) - (a->special < b->special);
}

static void merge(const struct xprof_order *order, const struct candidates *list, struct xprof_breakdown *breakdown) {
    const struct candidate *previous = NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct candidate *item = &list->items[i];
        if (previous && compare_shown(previous, item) == 0) {
            breakdown->allocations[breakdown->count - 1].occurrences += item->count;
            continue;
        }
        bool is_special = item->special != XPROF_NOT_SPECIAL;
        uint32_t row = is_special ? MEMORY_EVENT_NONE : xprof_order_row(order, item->first_place);
        breakdown->allocations[breakdown->count++] = (struct xprof_allocation){row, item->special, item->count};
        previous = item;
    }
}

bool xprof_breakdown_build(const struct xprof_order *order, const struct xprof_peak_place *peak, struct arena *arena,
                           struct xprof_breakdown *breakdown, struct error *error) {
    struct replay replay = {.order = order, .unmapped_bytes = peak->heap_bytes};
    struct candidates list = {0};
    *breakdown = (struct xprof_breakdown){0};
    bool is_good = id_map_init(&replay.active, arena, ADDRESSES_EXPECTED) && replay_step(&replay, peak) &&
                   collect_candidates(&replay, arena, &list);
    if (is_good) {
        add_special(breakdown, &list, BYTES("unused preallocated device memory"), BYTES("persist/dynamic"),
                    replay.unmapped_bytes);
        add_special(breakdown, &list, BYTES("stack"), BYTES("stack"), peak->stack_bytes);
        breakdown->allocations = arena_new(arena, struct xprof_allocation, list.count);
        is_good = breakdown->allocations || list.count == 0;
    }
    if (!is_good) return error_set(error, ERROR_TOO_BIG, "no memory left for the breakdown at the peak");
    if (list.count) qsort(list.items, list.count, sizeof *list.items, compare_candidates);
    merge(order, &list, breakdown);
    return true;
}
