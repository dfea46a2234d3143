// A made-up memory, told event by event: ops allocate and free in steps, the allocator's state follows.
//
//     uint32_t a = story_alloc(&story, "MatMul", 100);    the clock goes on by 10 ps with each event;
//     story.step = 1;                                      a free has the site that frees have in files: sizes, no op
//     story_free(&story, a);
#pragma once

#include "analysis/base/arena.h"
#include "tests/unit/timeline_build.h"

struct story {
    struct timeline_build build;
    struct arena arena;
    struct error error;
    struct profile_step *steps;
    int64_t time_ps, step, heap_bytes, capacity_bytes;
    double fragmentation;
};

enum { STORY_STEPS = 4096 };

static inline void story_begin(struct story *story, uint32_t capacity) {
    *story = (struct story){.capacity_bytes = 1 << 20};
    timeline_build_init(&story->build, capacity);
    arena_init(&story->arena, 0);
    story->steps = story->build.profile.steps = calloc(STORY_STEPS, sizeof *story->steps);
}

static inline void story_done(struct story *story) {
    arena_free(&story->arena);
    free(story->steps);
    timeline_build_free(&story->build);
}

// A site for each op and size, as in real profiles.
static inline void story_share_site(struct story *story, uint32_t row) {
    struct allocation_sites *sites = &story->build.profile.sites;
    const struct allocation_site *new_one = &sites->sites[sites->count - 1];
    for (uint32_t i = 0; i + 1 < sites->count; i++) {
        if (!bytes_equal(sites->sites[i].op, new_one->op)) continue;
        if (sites->sites[i].allocated_bytes != new_one->allocated_bytes) continue;
        story->build.timeline.site[row] = i;
        sites->count--;
        return;
    }
}

static inline uint32_t story_add(struct story *story, struct bytes op, int64_t bytes, bool is_free) {
    uint64_t moved = is_free ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    story->heap_bytes = (int64_t)((uint64_t)story->heap_bytes + moved);
    struct timeline_build_event event = {.time_ps = story->time_ps,
                                         .heap = story->heap_bytes,
                                         .allocated = bytes,
                                         .is_free = is_free,
                                         .fragmentation = story->fragmentation};
    event.free = (int64_t)((uint64_t)story->capacity_bytes - (uint64_t)story->heap_bytes);
    uint32_t row = timeline_build_add(&story->build, event);
    story->time_ps = (int64_t)((uint64_t)story->time_ps + 10);
    story->build.timeline.step[row] = story->step;
    story->build.profile.sites.sites[story->build.timeline.site[row]].op = op;
    story_share_site(story, row);
    return row;
}

static inline uint32_t story_alloc(struct story *story, const char *op, int64_t bytes) {
    return story_add(story, bytes_of(op), bytes, false);
}

static inline uint32_t story_free(struct story *story, uint32_t allocation) {
    uint32_t site = story->build.timeline.site[allocation];
    int64_t bytes = story->build.profile.sites.sites[site].allocated_bytes;
    uint32_t row = story_add(story, (struct bytes){0}, bytes, true);
    timeline_build_pair(&story->build, allocation, row);
    return row;
}

// A root event of a step.
static inline void story_root(struct story *story, int64_t id, const char *name, int64_t begin_ps, int64_t end_ps) {
    story->steps[story->build.profile.step_count++] = (struct profile_step){id, bytes_of(name), begin_ps, end_ps};
}
