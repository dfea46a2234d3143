#include "analysis/profile/questions/timeline_silences.h"

#include <string.h>

#include "analysis/base/clamped.h"

static int64_t length(struct timeline_silence silence) {
    return clamped_subtract(silence.end_ps, silence.begin_ps);
}

static uint32_t shortest_of(const struct timeline_silences *silences) {
    uint32_t shortest = 0;
    for (uint32_t i = 1; i < silences->count; i++) {
        if (length(silences->items[i]) < length(silences->items[shortest])) shortest = i;
    }
    return shortest;
}

// Of equal ones the first in time stays.
static void add(struct timeline_silences *silences, struct timeline_silence silence) {
    if (silences->count == TIMELINE_SILENCES_MAX) {
        uint32_t shortest = shortest_of(silences);
        if (length(silence) <= length(silences->items[shortest])) return;
        struct timeline_silence *gone = &silences->items[shortest];
        memmove(gone, gone + 1, (silences->count - shortest - 1) * sizeof *gone);
        silences->count--;
    }
    silences->items[silences->count++] = silence;
}

void timeline_silences_find(const struct memory_timeline *timeline, struct timeline_silences *silences) {
    silences->count = 0;
    if (timeline->count < 2) return;
    const int64_t *time_ps = timeline->time_ps;
    int64_t least = clamped_subtract(time_ps[timeline->count - 1], time_ps[0]) / TIMELINE_SILENCE_PARTS;
    for (uint32_t i = 1; i < timeline->count; i++) {
        struct timeline_silence silence = {time_ps[i - 1], time_ps[i]};
        if (length(silence) > least) add(silences, silence);
    }
}
