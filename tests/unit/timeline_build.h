// Hand-made timelines: an event a call, its allocator's state after it worked out or given.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "analysis/profile/memory_profile.h"

struct timeline_build {
    struct memory_profile profile;
    struct memory_timeline timeline;
    uint32_t capacity;
};

static inline void timeline_build_init(struct timeline_build *b, uint32_t capacity) {
    size_t rows = capacity + 1;
    *b = (struct timeline_build){.capacity = capacity};
    b->timeline = (struct memory_timeline){
        .time_ps = calloc(rows, sizeof(int64_t)),
        .heap_bytes = calloc(rows, sizeof(int64_t)),
        .stack_bytes = calloc(rows, sizeof(int64_t)),
        .free_bytes = calloc(rows, sizeof(int64_t)),
        .peak_bytes = calloc(rows, sizeof(int64_t)),
        .fragmentation = calloc(rows, sizeof(double)),
        .address = calloc(rows, sizeof(uint64_t)),
        .step = calloc(rows, sizeof(int64_t)),
        .site = calloc(rows, sizeof(uint32_t)),
        .partner = calloc(rows, sizeof(uint32_t)),
        .thread = calloc(rows, sizeof(uint32_t)),
        .flags = calloc(rows, sizeof(uint8_t)),
    };
    b->profile.sites.sites = calloc(rows, sizeof(struct allocation_site));
    b->profile.has_host_plane = true;
    b->profile.lines_start_together = true;
    b->profile.thread_count = 1;
}

static inline void timeline_build_free(struct timeline_build *b) {
    struct memory_timeline *t = &b->timeline;
    void *const columns[] = {
        t->time_ps, t->heap_bytes, t->stack_bytes, t->free_bytes, t->peak_bytes, t->fragmentation,      t->address,
        t->step,    t->site,       t->partner,     t->thread,     t->flags,      b->profile.sites.sites};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) free(columns[i]);
}

// One more event, with a site of its own. The state is what the caller says.
struct timeline_build_event {
    int64_t time_ps, heap, stack, free, peak, allocated;
    double fragmentation;
    bool is_free, is_stateless;
};

static inline uint32_t timeline_build_add(struct timeline_build *b, struct timeline_build_event event) {
    struct memory_timeline *t = &b->timeline;
    uint32_t row = t->count++;
    t->time_ps[row] = event.time_ps;
    t->heap_bytes[row] = event.heap;
    t->stack_bytes[row] = event.stack;
    t->free_bytes[row] = event.free;
    t->peak_bytes[row] = event.peak;
    t->fragmentation[row] = event.fragmentation;
    t->site[row] = b->profile.sites.count++;
    t->partner[row] = MEMORY_EVENT_NONE;
    t->flags[row] = (uint8_t)((event.is_free ? MEMORY_EVENT_IS_FREE : 0) |
                              (event.is_stateless ? 0 : MEMORY_EVENT_HAS_STATE));
    b->profile.sites.sites[t->site[row]] = (struct allocation_site){.allocated_bytes = event.allocated,
                                                                    .requested_bytes = event.allocated,
                                                                    .data_type = ALLOCATION_SITE_NO_DATA_TYPE};
    return row;
}

// The free of an allocation.
static inline void timeline_build_pair(struct timeline_build *b, uint32_t allocation, uint32_t free_row) {
    b->timeline.partner[allocation] = free_row;
    b->timeline.partner[free_row] = allocation;
}

// Numbers that look random and are the same every time (xorshift).
static inline uint64_t timeline_build_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
