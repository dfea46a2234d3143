// The latest events, as texts by number: whoever was away for a while gets those that it missed.
//
//     numbers   1 ... 40 | 41 42 43 ... 104 |          EVENT_RING_KEPT are kept, the oldest makes room
//                 gone      kept
//
// Owns the texts. Not thread-safe: its owner locks.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_RING_KEPT = 64 };

struct event_text {
    char *text;
    size_t size;
};

struct event_ring {
    struct event_text kept[EVENT_RING_KEPT];  // number n at n % EVENT_RING_KEPT
    uint64_t newest;                          // 0: there was none yet
};

void event_ring_free(struct event_ring *ring);

// The number that the next one gets.
uint64_t event_ring_next(const struct event_ring *ring);

// Takes the text over. NULL: a gap, of what happened and could not be told.
void event_ring_add(struct event_ring *ring, struct event_text event);

// NULL: it is not kept any more, has not come yet, or is a gap.
const struct event_text *event_ring_find(const struct event_ring *ring, uint64_t number);

// Whether all that came after `number` is kept.
bool event_ring_reaches_back_to(const struct event_ring *ring, uint64_t number);
