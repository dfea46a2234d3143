#include "analysis/profile/xprof/xprof_profile.h"

static void summarize(const struct memory_timeline *timeline, struct xprof_profile *made) {
    made->peak_row = MEMORY_EVENT_NONE;
    if (timeline->count == 0) return;
    uint32_t peak = timeline->file_order.peak;
    made->lifetime_peak_bytes = timeline->peak_bytes[timeline->file_order.last];
    if (peak == MEMORY_EVENT_NONE || memory_timeline_used_bytes(timeline, peak) < 0) return;
    made->peak_row = peak;
    made->peak_bytes = memory_timeline_used_bytes(timeline, peak);
    made->peak_time_ps = xprof_order_time_ps(&made->order, peak);
    made->capacity_bytes = (int64_t)((uint64_t)made->peak_bytes + (uint64_t)timeline->free_bytes[peak]);
}

static int64_t find_peak_step(const struct xprof_profile *made) {
    const struct memory_timeline *timeline = made->order.timeline;
    for (uint32_t place = timeline->count; place-- > 0;) {
        uint32_t row = xprof_order_row(&made->order, place);
        if (memory_timeline_used_bytes(timeline, row) == made->peak_bytes) return made->order.step[row];
    }
    return 0;
}

// --- Sampling ---

static uint32_t fullest_of(const struct xprof_order *order, uint32_t begin, uint32_t end) {
    uint32_t fullest = xprof_order_row(order, begin);
    int64_t most = memory_timeline_used_bytes(order->timeline, fullest);
    for (uint32_t place = begin + 1; place < end; place++) {
        uint32_t row = xprof_order_row(order, place);
        int64_t used = memory_timeline_used_bytes(order->timeline, row);
        if (used <= most) continue;
        fullest = row;
        most = used;
    }
    return fullest;
}

static bool sample(struct xprof_profile *made, struct arena *arena) {
    uint32_t count = made->order.timeline->count;
    made->sampled_count = count < XPROF_SAMPLES_MAX ? count : XPROF_SAMPLES_MAX;
    made->sampled_rows = arena_push_raw(arena, made->sampled_count, sizeof *made->sampled_rows);
    if (made->sampled_count == 0) return true;
    if (!made->sampled_rows) return false;
    uint32_t width = count / made->sampled_count, wider_count = count % made->sampled_count, begin = 0;
    for (uint32_t i = 0; i < made->sampled_count; i++) {
        bool is_wider = i >= made->sampled_count - wider_count;
        uint32_t end = begin + width + (is_wider ? 1 : 0);
        made->sampled_rows[i] = fullest_of(&made->order, begin, end);
        begin = end;
    }
    return true;
}

bool xprof_profile_build(const struct memory_profile *profile, const struct memory_timeline *timeline,
                         struct arena *arena, struct xprof_profile *made, struct error *error) {
    *made = (struct xprof_profile){0};
    if (!xprof_order_build(profile, timeline, arena, &made->order, error)) return false;
    summarize(timeline, made);
    made->peak_step = find_peak_step(made);
    if (!sample(made, arena)) return error_set(error, ERROR_TOO_BIG, "no memory left for the sampled events");
    bool has_peak = made->peak_row != MEMORY_EVENT_NONE;
    struct xprof_peak_place peak = {
        .time_ps = made->peak_time_ps,
        .step = made->peak_step,
        .heap_bytes = has_peak ? timeline->heap_bytes[made->peak_row] : 0,
        .stack_bytes = has_peak ? timeline->stack_bytes[made->peak_row] : 0,
    };
    return xprof_breakdown_build(&made->order, &peak, arena, &made->breakdown, error);
}
