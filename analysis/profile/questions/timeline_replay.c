#include "analysis/profile/questions/timeline_replay.h"

#include "analysis/base/clamped.h"

// A free tells its size itself; where it does not, the allocation it freed knows.
int64_t timeline_moved_bytes(const struct memory_profile *profile, const struct memory_timeline *timeline,
                             uint32_t row) {
    int64_t own = profile->sites.sites[timeline->site[row]].allocated_bytes;
    if (!memory_timeline_is_free(timeline, row)) return own;
    if (!own) own = memory_timeline_site(profile, timeline, row)->allocated_bytes;
    return clamped_subtract(0, own);
}

static bool has_state(const struct memory_timeline *timeline, uint32_t row) {
    return timeline->flags[row] & MEMORY_EVENT_HAS_STATE;
}

static void believe(struct timeline_replay *replay, uint32_t row) {
    replay->is_known = true;
    replay->heap_bytes = replay->timeline->heap_bytes[row];
    replay->stack_bytes = replay->timeline->stack_bytes[row];
}

void timeline_replay_begin(struct timeline_replay *replay, const struct memory_profile *profile,
                           const struct memory_timeline *timeline, struct timeline_tells tells, uint32_t row) {
    *replay = (struct timeline_replay){profile, timeline, .row = row, .is_compared = tells.usage};
    uint32_t known = row;
    while (known && !has_state(timeline, known - 1)) known--;
    if (!known) return;
    believe(replay, known - 1);
    for (; known < row; known++)
        replay->heap_bytes = clamped_add(replay->heap_bytes, timeline_moved_bytes(profile, timeline, known));
}

struct timeline_difference timeline_replay_step(struct timeline_replay *replay) {
    const struct memory_timeline *timeline = replay->timeline;
    struct timeline_difference difference = {0, 0};
    uint32_t row = replay->row++;
    replay->heap_bytes = clamped_add(replay->heap_bytes, timeline_moved_bytes(replay->profile, timeline, row));
    if (!replay->is_compared || !has_state(timeline, row)) return difference;
    if (replay->is_known) {
        difference.heap_bytes = clamped_subtract(timeline->heap_bytes[row], replay->heap_bytes);
        difference.stack_bytes = clamped_subtract(timeline->stack_bytes[row], replay->stack_bytes);
    }
    believe(replay, row);
    return difference;
}
