#include "analysis/memory/memory_totals.h"

#include <stdio.h>

static bool add_allocation(struct memory_totals *totals, const struct hlo_allocation *allocation) {
    enum allocation_category category = allocation_category_of(allocation);
    int64_t *bytes = &totals->bytes[category];
    totals->allocation_count++;
    if (__builtin_add_overflow(*bytes, allocation->size_bytes, bytes)) return false;
    if (category == ALLOCATION_THREAD_LOCAL) return true;
    if (__builtin_add_overflow(totals->total_bytes, allocation->size_bytes, &totals->total_bytes)) return false;
    totals->indefinite_bytes = totals->total_bytes - totals->bytes[ALLOCATION_TEMPORARY];
    return true;
}

// Programs have a handful of memory spaces, so a sorted array is the map.
static struct memory_totals *find_or_add(struct memory_totals_list *list, int64_t space) {
    size_t at = 0;
    while (at < list->space_count && list->spaces[at].space < space) at++;
    if (at < list->space_count && list->spaces[at].space == space) return &list->spaces[at];
    if (list->space_count == MEMORY_SPACES_MAX) return NULL;
    memmove(&list->spaces[at + 1], &list->spaces[at], (list->space_count - at) * sizeof *list->spaces);
    list->spaces[at] = (struct memory_totals){.space = space};
    list->space_count++;
    return &list->spaces[at];
}

bool memory_totals_list(const struct hlo_module *module, struct arena *arena, struct memory_totals_list *list,
                        struct error *error) {
    size_t capacity = module->allocation_count < MEMORY_SPACES_MAX ? module->allocation_count : MEMORY_SPACES_MAX;
    *list = (struct memory_totals_list){.spaces = arena_new(arena, struct memory_totals, capacity)};
    if (!list->spaces) return error_set(error, ERROR_TOO_BIG, "no memory left for the totals of the memory spaces");
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &module->allocations[i];
        struct memory_totals *totals = find_or_add(list, allocation->color);
        if (!totals) return error_set(error, ERROR_MALFORMED, "more than %d memory spaces", MEMORY_SPACES_MAX);
        if (!add_allocation(totals, allocation)) {
            return error_set(error, ERROR_MALFORMED, "the allocations of memory space %lld sum to more than 2^63 bytes",
                             (long long)allocation->color);
        }
    }
    return true;
}

struct memory_totals memory_totals_of(const struct memory_totals_list *list, int64_t space) {
    for (size_t i = 0; i < list->space_count; i++) {
        if (list->spaces[i].space == space) return list->spaces[i];
    }
    return (struct memory_totals){.space = space};
}

const char *memory_space_name(int64_t space, char text[MEMORY_SPACE_NAME_BYTES]) {
    static const char *const names[] = {"HBM", "VMEM", "Sflag", "CMEM", "SMEM", "Host", "SparseCore"};
    if (space >= 0 && (size_t)space < sizeof names / sizeof *names) return names[space];
    snprintf(text, MEMORY_SPACE_NAME_BYTES, "Memory space %lld", (long long)space);
    return text;
}
