// What a chart of one memory shows of a window of time: one entry a pixel column, or the events themselves.
//
//     from                                    to        buckets = 4 (half-open; widths differ by a picosecond at most)
//      |---- 0 ---|---- 1 ---|---- 2 ---|---- 3 ---|
//     .|.. .  ..  |          |.         |  . .. .. |.   events
//         entry 0                entry 1   entry 2      least, most, last of each bucket that holds any
//
// A window of no more events than buckets is told event by event. Every zoom agrees with every other: entries are
// exact, and their counts add up to the events of the window. Any int64 may be a bound; from > to is an empty window.
#pragma once

#include "analysis/profile/questions/timeline_pyramid.h"

enum { TIMELINE_WINDOW_MAX_BUCKETS = 10000 };

struct timeline_entry {
    uint32_t bucket;
    uint32_t first_row, count;
    struct timeline_range range;
};

struct timeline_window {
    uint32_t first_row, end_row;     // the events of the window
    uint32_t before_row;             // the last event before it that told its state; MEMORY_EVENT_NONE
    bool is_exact;                   // an entry is an event
    struct timeline_entry *entries;  // in time order, on the arena
    uint32_t entry_count;
};

// The window over everything: from the first event to one picosecond past the last.
void timeline_whole(const struct memory_timeline *timeline, int64_t *from_ps, int64_t *to_ps);

// `bucket_count`: 1 to TIMELINE_WINDOW_MAX_BUCKETS; others are taken as the nearest of these. False when `arena` is at
// its limit.
MUST_USE bool timeline_window_query(const struct timeline_pyramid *pyramid, const struct memory_timeline *timeline,
                                    int64_t from_ps, int64_t to_ps, int64_t bucket_count, struct arena *arena,
                                    struct timeline_window *window);

// The rows whose time is in [from, to).
void timeline_rows_between(const struct memory_timeline *timeline, int64_t from_ps, int64_t to_ps, uint32_t *first_row,
                           uint32_t *end_row);
