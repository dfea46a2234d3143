#include "analysis/profile/questions/size_histogram.h"

#include "analysis/profile/questions/held_bytes.h"
#include "analysis/profile/questions/op_totals.h"

static void add(struct histogram_range *range, int64_t bytes) {
    range->count++;
    range->bytes = (int64_t)((uint64_t)range->bytes + (uint64_t)bytes);
}

// 0: negative, 1: none, 2: one byte, 3: two or three, ...
static unsigned size_range_of(int64_t bytes) {
    if (bytes <= 0) return bytes == 0;
    return 65 - (unsigned)__builtin_clzll((uint64_t)bytes);
}

static void size_bounds(unsigned range, struct histogram_range *bounds) {
    bounds->from = range == 0 ? INT64_MIN : range == 1 ? 0 : (int64_t)1 << (range - 2);
    bounds->to = range == SIZE_RANGE_MAX - 1 ? INT64_MAX : range == 0 ? 0 : (int64_t)1 << (range - 1);
}

static const int64_t lifetime_bounds[LIFETIME_RANGE_MAX + 1] = {
    0,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    INT64_MAX,
};

static unsigned lifetime_range_of(int64_t lifetime_ps) {
    unsigned range = 0;
    while (range + 1 < LIFETIME_RANGE_MAX && lifetime_ps >= lifetime_bounds[range + 1]) range++;
    return range;
}

static void count_events(const struct memory_profile *profile, const struct memory_timeline *t,
                         struct allocation_histograms *h) {
    for (uint32_t i = 0; i < t->count; i++) {
        if (memory_timeline_is_free(t, i)) continue;
        int64_t bytes = allocation_site_held_bytes(&profile->sites.sites[t->site[i]]);
        add(&h->sizes[size_range_of(bytes)], bytes);
        uint32_t freed_at = memory_timeline_freed_at(t, i);
        if (freed_at != MEMORY_EVENT_NONE) {
            add(&h->lifetimes[lifetime_range_of(memory_timeline_lifetime_ps(t, i, freed_at))], bytes);
            continue;
        }
        h->never_freed_count++;
        h->never_freed_bytes = (int64_t)((uint64_t)h->never_freed_bytes + (uint64_t)bytes);
    }
}

static uint32_t drop_empty(struct histogram_range *ranges, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].count) ranges[kept++] = ranges[i];
    }
    return kept;
}

void allocation_histograms_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                struct allocation_histograms *histograms) {
    *histograms = (struct allocation_histograms){0};
    for (unsigned i = 0; i < SIZE_RANGE_MAX; i++) size_bounds(i, &histograms->sizes[i]);
    for (unsigned i = 0; i < LIFETIME_RANGE_MAX; i++) {
        histograms->lifetimes[i].from = lifetime_bounds[i];
        histograms->lifetimes[i].to = lifetime_bounds[i + 1];
    }
    count_events(profile, timeline, histograms);
    histograms->size_count = drop_empty(histograms->sizes, SIZE_RANGE_MAX);
    histograms->lifetime_count = drop_empty(histograms->lifetimes, LIFETIME_RANGE_MAX);
}
