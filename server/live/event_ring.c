#include "server/live/event_ring.h"

#include <stdlib.h>

void event_ring_free(struct event_ring *ring) {
    for (size_t i = 0; i < EVENT_RING_KEPT; i++) free(ring->kept[i].text);
    *ring = (struct event_ring){0};
}

uint64_t event_ring_next(const struct event_ring *ring) {
    return ring->newest + 1;
}

void event_ring_add(struct event_ring *ring, struct event_text event) {
    struct event_text *place = &ring->kept[++ring->newest % EVENT_RING_KEPT];
    free(place->text);
    *place = event;
}

const struct event_text *event_ring_find(const struct event_ring *ring, uint64_t number) {
    bool is_kept = number <= ring->newest && ring->newest - number < EVENT_RING_KEPT && number > 0;
    const struct event_text *event = &ring->kept[number % EVENT_RING_KEPT];
    return is_kept && event->text ? event : NULL;
}

bool event_ring_reaches_back_to(const struct event_ring *ring, uint64_t number) {
    return number <= ring->newest && ring->newest - number <= EVENT_RING_KEPT;
}
