#include "analysis/advice/advice_bounds.h"

#include "analysis/memory/allocation_category.h"

static bool is_counted(const struct hlo_allocation *a) {
    return a->color == 0 && !a->is_thread_local;
}

static bool is_resized(const struct what_if *what_if, const struct hlo_allocation *a, const int64_t *sizes) {
    const struct hlo_module *module = what_if->module;
    for (uint32_t i = 0; i < a->assigned_count; i++) {
        uint32_t buffer = module->assigned[a->first_assigned + i].buffer;
        if (buffer != HLO_NONE && sizes[buffer] != module->buffers[buffer].size_bytes) return true;
    }
    return false;
}

// Of the temporaries on the heap, and of those that lie in outputs until these are written.
static bool is_temporary(const struct what_if *what_if, uint32_t buffer) {
    if (what_if->residents.module.buffers[buffer].color != 0) return false;
    if (buffer >= what_if->residents.first_guest) return true;
    uint32_t a = what_if->module->allocation_of_buffer[buffer];
    return a != HLO_NONE && allocation_category_of(&what_if->module->allocations[a]) == ALLOCATION_TEMPORARY;
}

static int64_t add_bytes(int64_t sum, int64_t bytes) {
    return what_if_bytes((double)sum + (double)(bytes > 0 ? bytes : 0));
}

struct advice_reach advice_reach_of(const struct what_if *what_if, const struct what_if_change *change) {
    const struct hlo_module *all = &what_if->residents.module;  // with the guests, which are temporary too
    struct advice_reach reach = {0};
    for (uint32_t i = 0; i < what_if->module->allocation_count; i++) {
        const struct hlo_allocation *a = &what_if->module->allocations[i];
        if (!is_counted(a) || allocation_category_of(a) == ALLOCATION_TEMPORARY) continue;
        bool is_gone = change->is_gone && change->is_gone[i];
        if (is_gone || is_resized(what_if, a, change->sizes))
            reach.indefinite_bytes = add_bytes(reach.indefinite_bytes, a->size_bytes);
    }
    for (uint32_t i = 0; i < all->buffer_count; i++) {
        if (is_temporary(what_if, i) && change->sizes[i] != all->buffers[i].size_bytes)
            reach.temporary_bytes = add_bytes(reach.temporary_bytes, all->buffers[i].size_bytes);
    }
    return reach;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t between(int64_t low, int64_t value, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

struct advice_reach advice_reach_join(struct advice_reach a, struct advice_reach b) {
    return (struct advice_reach){.indefinite_bytes = larger(a.indefinite_bytes, b.indefinite_bytes),
                                 .temporary_bytes = larger(a.temporary_bytes, b.temporary_bytes),
                                 .added_bytes = larger(a.added_bytes, b.added_bytes)};
}

// On a TPU that is short of memory a change can make so much room that nothing lies in outputs any more.
static int64_t back_from_outputs(const struct what_if *now, const struct advice_reach *reach) {
    bool is_changed = reach->indefinite_bytes > 0 || reach->temporary_bytes > 0;
    return is_changed && now->short_bytes ? larger(0, now->roomy_total_bytes - now->total_bytes) : 0;
}

bool advice_bounds_hold(const struct what_if *now, const struct advice_reach *reach, struct advice_item *item) {
    int64_t predicted = item->predicted_total_bytes;
    int64_t indefinite = between(0, reach->indefinite_bytes, now->indefinite_bytes);
    int64_t temporary = between(0, reach->temporary_bytes, now->temporary_bytes);
    item->touched_bytes = indefinite + temporary;
    item->added_bytes = add_bytes(larger(0, reach->added_bytes), back_from_outputs(now, reach));
    item->stays_bytes = now->indefinite_bytes - indefinite;
    int64_t least = now->total_bytes - item->touched_bytes, most = now->total_bytes + item->added_bytes;
    item->predicted_total_bytes = between(least, predicted, most);
    item->saves_bytes = now->total_bytes - item->predicted_total_bytes;
    item->predicted_indefinite_bytes = between(item->stays_bytes, item->predicted_indefinite_bytes,
                                               item->predicted_total_bytes);
    item->predicted_peak_bytes = between(0, item->predicted_peak_bytes, larger(most, now->peak_bytes));
    item->low_bytes = between(item->stays_bytes, item->low_bytes, item->predicted_total_bytes);
    item->high_bytes = larger(item->high_bytes, item->predicted_total_bytes);
    return item->predicted_total_bytes != predicted;
}
