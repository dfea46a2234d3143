#include "analysis/profile/questions/timeline_pyramid.h"

#include <math.h>

#include "analysis/profile/questions/largest_free.h"

struct timeline_tells timeline_tells(const struct memory_timeline *timeline) {
    struct timeline_tells tells = {false, false};
    for (uint32_t row = 0; row < timeline->count && !tells.free; row++) {
        tells.free = timeline->free_bytes[row] != 0;
        tells.usage |= tells.free || timeline->heap_bytes[row] || timeline->stack_bytes[row] ||
                       timeline->peak_bytes[row];
    }
    return tells;
}

static const struct timeline_range EMPTY = {.fragmentation_min = NAN,
                                            .fragmentation_max = NAN,
                                            .largest_free_min = LARGEST_FREE_UNKNOWN,
                                            .peak_row = MEMORY_EVENT_NONE,
                                            .last_row = MEMORY_EVENT_NONE};

static void extend(struct timeline_extent *extent, struct timeline_extent by) {
    extent->min = by.min < extent->min ? by.min : extent->min;
    extent->max = by.max > extent->max ? by.max : extent->max;
}

// Adds the run that follows. A fragmentation that is no number is below and above nothing.
static void add_range(struct timeline_range *range, const struct timeline_range *next) {
    if (next->peak_row == MEMORY_EVENT_NONE) return;
    if (range->peak_row == MEMORY_EVENT_NONE) {
        *range = *next;
        return;
    }
    if (next->used.max > range->used.max) range->peak_row = next->peak_row;
    extend(&range->heap, next->heap);
    extend(&range->stack, next->stack);
    extend(&range->free, next->free);
    extend(&range->used, next->used);
    bool is_none = isnan(range->fragmentation_min);
    if (is_none || next->fragmentation_min < range->fragmentation_min)
        range->fragmentation_min = next->fragmentation_min;
    if (is_none || next->fragmentation_max > range->fragmentation_max)
        range->fragmentation_max = next->fragmentation_max;
    // As unsigned, unknown is above all that is known.
    if ((uint64_t)next->largest_free_min < (uint64_t)range->largest_free_min)
        range->largest_free_min = next->largest_free_min;
    range->last_row = next->last_row;
}

static struct timeline_extent one(int64_t value) {
    return (struct timeline_extent){value, value};
}

static void add_rows(const struct timeline_pyramid *pyramid, const struct memory_timeline *timeline, uint32_t first,
                     uint32_t end, struct timeline_range *range) {
    for (uint32_t row = first; row < end; row++) {
        if (!(timeline->flags[row] & MEMORY_EVENT_HAS_STATE)) continue;
        int64_t free_bytes = timeline->free_bytes[row];
        double fragmentation = isfinite(timeline->fragmentation[row]) ? timeline->fragmentation[row] : NAN;
        int64_t largest = pyramid->tells.free ? largest_free_bytes(free_bytes, fragmentation) : LARGEST_FREE_UNKNOWN;
        struct timeline_range next = {.heap = one(timeline->heap_bytes[row]),
                                      .stack = one(timeline->stack_bytes[row]),
                                      .free = one(free_bytes),
                                      .used = one(memory_timeline_used_bytes(timeline, row)),
                                      .fragmentation_min = fragmentation,
                                      .fragmentation_max = fragmentation,
                                      .largest_free_min = largest,
                                      .peak_row = row,
                                      .last_row = row};
        add_range(range, &next);
    }
}

static void add_blocks(const struct timeline_level *level, uint32_t first, uint32_t end, struct timeline_range *range) {
    for (uint32_t i = first; i < end; i++) add_range(range, &level->blocks[i]);
}

// Units [first, end) below `level`: rows for level 0, else the blocks of the level under it.
static void add_units(const struct timeline_pyramid *pyramid, const struct memory_timeline *timeline, uint32_t level,
                      uint32_t first, uint32_t end, struct timeline_range *range) {
    if (level == 0)
        add_rows(pyramid, timeline, first, end, range);
    else
        add_blocks(&pyramid->levels[level - 1], first, end, range);
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static bool build_level(struct timeline_pyramid *pyramid, const struct memory_timeline *timeline, uint32_t units,
                        struct arena *arena) {
    struct timeline_level *level = &pyramid->levels[pyramid->level_count];
    level->count = units / TIMELINE_PYRAMID_FAN + (units % TIMELINE_PYRAMID_FAN != 0);
    level->blocks = arena_push_raw(arena, level->count, sizeof *level->blocks);
    if (!level->blocks) return false;
    for (uint32_t i = 0; i < level->count; i++) {
        uint32_t first = i * TIMELINE_PYRAMID_FAN, end = first + least(units - first, TIMELINE_PYRAMID_FAN);
        level->blocks[i] = EMPTY;
        add_units(pyramid, timeline, pyramid->level_count, first, end, &level->blocks[i]);
    }
    pyramid->level_count++;
    return true;
}

bool timeline_pyramid_build(const struct memory_timeline *timeline, struct arena *arena,
                            struct timeline_pyramid *pyramid) {
    *pyramid = (struct timeline_pyramid){.event_count = timeline->count, .tells = timeline_tells(timeline)};
    uint32_t units = timeline->count;
    while (units > TIMELINE_PYRAMID_FAN) {
        if (!build_level(pyramid, timeline, units, arena)) return false;
        units = pyramid->levels[pyramid->level_count - 1].count;
    }
    return true;
}

// Up the left flank until whole blocks begin, across, and down the right flank: in the order of the rows, so that the
// first of equal peaks stays the first.
struct timeline_range timeline_pyramid_range(const struct timeline_pyramid *pyramid,
                                             const struct memory_timeline *timeline, uint32_t first, uint32_t end) {
    struct timeline_range range = EMPTY;
    uint32_t ends[TIMELINE_PYRAMID_LEVELS + 1], level = 0;
    for (;; level++) {
        uint32_t first_block = first / TIMELINE_PYRAMID_FAN + (first % TIMELINE_PYRAMID_FAN != 0);
        uint32_t end_block = end / TIMELINE_PYRAMID_FAN;
        if (level == pyramid->level_count || first_block >= end_block) break;
        add_units(pyramid, timeline, level, first, first_block * TIMELINE_PYRAMID_FAN, &range);
        ends[level] = end;
        first = first_block;
        end = end_block;
    }
    add_units(pyramid, timeline, level, first, end, &range);
    while (level--) {
        add_units(pyramid, timeline, level, end * TIMELINE_PYRAMID_FAN, ends[level], &range);
        end = ends[level];
    }
    return range;
}
