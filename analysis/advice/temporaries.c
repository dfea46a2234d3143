#include "analysis/advice/temporaries.h"

#include <stdlib.h>

#include "analysis/memory/allocation_category.h"

enum { HBM = 0, TPU_ALIGNMENT_MIN = 4096, WASTE_WORTH_PACKING_DIVISOR = 1000 };

#define SAME_SIZE 0.0025  // as a part of the compiler's: packed as the compiler did

bool temporaries_has(const struct hlo_allocation *a) {
    return a->color == HBM && !a->is_thread_local && allocation_category_of(a) == ALLOCATION_TEMPORARY;
}

// --- What no trace tells of ---

static int by_place(const void *left, const void *right) {
    const struct untraced_buffer *a = left, *b = right;
    if (a->allocation != b->allocation) return (a->allocation > b->allocation) - (a->allocation < b->allocation);
    if (a->offset != b->offset) return (a->offset > b->offset) - (a->offset < b->offset);
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static void list_untraced(struct temporaries *t, const struct hlo_module *module, const uint8_t *is_traced) {
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        for (uint32_t k = 0; k < a->assigned_count && temporaries_has(a); k++) {
            const struct hlo_assigned *assigned = &module->assigned[a->first_assigned + k];
            if (assigned->buffer == HLO_NONE || is_traced[assigned->buffer]) continue;
            t->untraced[t->untraced_count++] = (struct untraced_buffer){i, assigned->buffer, assigned->offset};
        }
    }
    if (t->untraced_count) qsort(t->untraced, t->untraced_count, sizeof *t->untraced, by_place);
}

static bool find_untraced(struct temporaries *t, const struct hlo_module *module, struct heap_events events,
                          struct arena *arena) {
    uint8_t *is_traced = arena_new(arena, uint8_t, module->buffer_count);
    t->untraced = arena_push_raw(arena, module->assigned_count, sizeof *t->untraced);
    if (!is_traced || !t->untraced) return false;
    for (uint32_t i = 0; i < events.count; i++) {
        if (events.events[i].buffer != HLO_NONE) is_traced[events.events[i].buffer] = 1;
    }
    list_untraced(t, module, is_traced);
    return true;
}

static bool is_same_place(const struct untraced_buffer *a, const struct untraced_buffer *b) {
    return a->allocation == b->allocation && a->offset == b->offset;
}

// Each place is as large as the largest buffer that lies there.
static int64_t sum_untraced(const struct temporaries *t, const struct hlo_module *module) {
    int64_t sum = 0, largest = 0;
    for (uint32_t i = 0; i < t->untraced_count; i++) {
        int64_t size = module->buffers[t->untraced[i].buffer].size_bytes;
        if (i && !is_same_place(&t->untraced[i - 1], &t->untraced[i])) largest = 0;
        if (size <= largest || size > INT64_MAX / 4 - sum) continue;
        int64_t padded = (size + t->alignment_bytes - 1) / t->alignment_bytes * t->alignment_bytes;
        int64_t before = (largest + t->alignment_bytes - 1) / t->alignment_bytes * t->alignment_bytes;
        sum += padded - before;
        largest = size;
    }
    return sum;
}

// --- The compiler's order ---

static bool pack(const struct hlo_module *module, const struct heap_replay *replay, bool is_in_program_order,
                 int64_t alignment_bytes, struct arena *scratch, struct heap_packing *packing, struct error *error) {
    struct heap_packing second;
    enum heap_order order = is_in_program_order ? HEAP_PROGRAM_ORDER : HEAP_LARGEST_FIRST;
    if (!heap_packing_run(module, replay, order, alignment_bytes, scratch, packing, error)) return false;
    if (is_in_program_order) return true;
    if (!heap_packing_run(module, replay, HEAP_LONGEST_FIRST, alignment_bytes, scratch, &second, error)) return false;
    int64_t visits = packing->visits + second.visits;
    if (second.total_bytes < packing->total_bytes) *packing = second;
    packing->visits = visits;
    return true;
}

static int64_t distance(const struct temporaries *t, int64_t packed_bytes) {
    int64_t difference = packed_bytes + t->untraced_bytes - t->total_bytes;
    return difference < 0 ? -difference : difference;
}

static bool find_order(struct temporaries *t, const struct hlo_module *module, const struct heap_replay *replay,
                       struct arena *scratch, struct error *error) {
    struct heap_packing in_order, least;
    if (!pack(module, replay, true, t->alignment_bytes, scratch, &in_order, error) ||
        !pack(module, replay, false, t->alignment_bytes, scratch, &least, error))
        return false;
    bool is_tpu = t->alignment_bytes >= TPU_ALIGNMENT_MIN;
    t->is_in_program_order = distance(t, in_order.total_bytes) < distance(t, least.total_bytes) ||
                             (is_tpu &&
                              (double)distance(t, in_order.total_bytes) <= SAME_SIZE * (double)t->total_bytes);
    const struct heap_packing *own = t->is_in_program_order ? &in_order : &least;
    t->packed_bytes = own->total_bytes;
    t->wasted_bytes = t->packed_bytes - replay->peak_bytes;
    t->packing_visits = t->wasted_bytes > t->total_bytes / WASTE_WORTH_PACKING_DIVISOR ? own->visits : 0;
    return true;
}

static bool see_allocations(struct temporaries *t, const struct hlo_module *module, struct error *error) {
    int64_t bits = TEMPORARIES_ALIGNMENT_MAX;
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        if (!temporaries_has(a)) continue;
        if (a->size_bytes < 0 || a->size_bytes > INT64_MAX / 4 - t->total_bytes)
            return error_set(error, ERROR_MALFORMED, "the temporary allocations of HBM hold more than 2^61 bytes");
        t->total_bytes += a->size_bytes;
        for (uint32_t k = 0; k < a->assigned_count; k++) bits |= module->assigned[a->first_assigned + k].offset;
    }
    t->alignment_bytes = bits & -bits;
    return true;
}

// With totals of no more, sums of these fit.
static bool is_peak_small(const struct heap_replay *replay, struct error *error) {
    return replay->peak_bytes <= INT64_MAX / 4 ||
           error_set(error, ERROR_MALFORMED, "more than 2^61 bytes of temporaries are live at once");
}

bool temporaries_init(struct temporaries *t, const struct hlo_module *module, struct heap_events events,
                      const struct heap_replay *replay, struct arena *arena, struct error *error) {
    struct arena scratch;
    *t = (struct temporaries){0};
    if (!see_allocations(t, module, error) || !is_peak_small(replay, error)) return false;
    if (!find_untraced(t, module, events, arena))
        return error_set(error, ERROR_TOO_BIG, "no memory left for the temporaries of %u buffers",
                         module->buffer_count);
    t->untraced_bytes = sum_untraced(t, module);
    arena_init(&scratch, arena->limit_bytes);
    bool is_good = find_order(t, module, replay, &scratch, error);
    arena_free(&scratch);
    return is_good;
}

bool temporaries_predict(const struct temporaries *t, const struct hlo_module *changed,
                         const struct heap_replay *replay, struct arena *scratch, int64_t *total_bytes,
                         struct error *error) {
    struct heap_packing packing = {.total_bytes = replay->peak_bytes};
    if (!is_peak_small(replay, error)) return false;
    if (t->packing_visits &&
        !pack(changed, replay, t->is_in_program_order, t->alignment_bytes, scratch, &packing, error))
        return false;
    bool is_most = !t->packing_visits || packing.total_bytes > replay->peak_bytes + t->wasted_bytes;
    int64_t packed = is_most ? replay->peak_bytes + t->wasted_bytes : packing.total_bytes;
    int64_t rest = t->total_bytes - t->packed_bytes + sum_untraced(t, changed) - t->untraced_bytes;
    *total_bytes = packed + rest > replay->peak_bytes ? packed + rest : replay->peak_bytes;
    return true;
}
