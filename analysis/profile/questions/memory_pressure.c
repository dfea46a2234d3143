#include "analysis/profile/questions/memory_pressure.h"

#include "analysis/profile/questions/largest_free.h"
#include "analysis/profile/questions/timeline_pyramid.h"

// LARGEST_FREE_UNKNOWN for an event that does not tell.
static int64_t largest_free_at(const struct memory_timeline *t, uint32_t row) {
    if (!(t->flags[row] & MEMORY_EVENT_HAS_STATE)) return LARGEST_FREE_UNKNOWN;
    return largest_free_bytes(t->free_bytes[row], t->fragmentation[row]);
}

static void find_largest_request(const struct memory_profile *profile, const struct memory_timeline *t,
                                 struct memory_pressure *p) {
    for (uint32_t i = 0; i < t->count; i++) {
        if (memory_timeline_is_free(t, i)) continue;
        int64_t bytes = profile->sites.sites[t->site[i]].allocated_bytes;
        if (p->largest_request != MEMORY_EVENT_NONE && bytes <= p->largest_request_bytes) continue;
        p->largest_request = i;
        p->largest_request_bytes = bytes;
    }
}

static void find_tightest(const struct memory_timeline *t, struct memory_pressure *p) {
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t largest = largest_free_at(t, i);
        if (largest == LARGEST_FREE_UNKNOWN) continue;
        p->tight_events += largest < p->largest_request_bytes;
        if (p->tightest != MEMORY_EVENT_NONE && largest >= p->tightest_bytes) continue;
        p->tightest = i;
        p->tightest_bytes = largest;
    }
}

// The root event that lasts over the whole silence; of several the one that began last. It began a little after the
// event before, when that one prepared the step.
static const struct profile_step *step_over(const struct memory_profile *profile,
                                            const struct pressure_moment *moment) {
    const struct profile_step *found = NULL;
    int64_t middle = moment->time_ps + (moment->until_ps - moment->time_ps) / 2;
    for (size_t i = 0; i < profile->step_count; i++) {
        const struct profile_step *step = &profile->steps[i];
        bool is_over = step->begin_ps <= middle && step->end_ps >= middle;
        if (is_over && (!found || step->begin_ps > found->begin_ps)) found = step;
    }
    return found;
}

static void count_stall(const struct pressure_moment *stall, struct memory_pressure *p) {
    bool is_least = !p->stall_count || stall->largest_free_bytes < p->stall_least_bytes;
    if (is_least) p->stall_least_bytes = stall->largest_free_bytes;
    p->stall_retry_count += stall->is_retry_long;
    p->stall_count++;
}

static void add_moment(const struct memory_profile *profile, const struct memory_timeline *t, uint32_t row,
                       int64_t until_ps, struct memory_pressure *p) {
    struct pressure_moment m = {.row = row,
                                .time_ps = t->time_ps[row],
                                .until_ps = until_ps,
                                .is_open = row + 1 == t->count,
                                .largest_free_bytes = largest_free_at(t, row),
                                .step = t->step[row]};
    if (m.largest_free_bytes == LARGEST_FREE_UNKNOWN) return;
    int64_t silence_ps = until_ps - m.time_ps;
    bool is_stall = m.largest_free_bytes < p->largest_request_bytes && silence_ps <= PRESSURE_STALL_LONGEST_PS;
    m.kind = is_stall ? PRESSURE_STALL : PRESSURE_PAUSE;
    m.is_retry_long = silence_ps >= PRESSURE_RETRY_PS && silence_ps <= PRESSURE_RETRY_LONGEST_PS;
    if (is_stall) count_stall(&m, p);
    if (p->moment_count == MEMORY_PRESSURE_MAX_MOMENTS) {
        p->left_out++;
        return;
    }
    const struct profile_step *step = step_over(profile, &m);
    if (step) {
        m.step = step->id;
        m.step_name = step->name;
    }
    p->moments[p->moment_count++] = m;
}

// Where the profile ends for the allocator: its last event, or the end of a step that goes on after it.
static int64_t end_of_profile(const struct memory_profile *profile, const struct memory_timeline *t) {
    int64_t end_ps = t->time_ps[t->count - 1];
    for (size_t i = 0; i < profile->step_count; i++) {
        if (profile->steps[i].end_ps > end_ps) end_ps = profile->steps[i].end_ps;
    }
    return end_ps;
}

// Differences of hostile times may not fit.
static bool is_silence(int64_t from_ps, int64_t to_ps) {
    int64_t silence;
    return !__builtin_sub_overflow(to_ps, from_ps, &silence) && silence >= PRESSURE_SILENCE_PS;
}

static void find_moments(const struct memory_profile *profile, const struct memory_timeline *t,
                         struct memory_pressure *p) {
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t until_ps = i + 1 < t->count ? t->time_ps[i + 1] : end_of_profile(profile, t);
        if (is_silence(t->time_ps[i], until_ps)) add_moment(profile, t, i, until_ps, p);
    }
}

static enum pressure_state state_of(const struct memory_pressure *p) {
    if (p->tightest == MEMORY_EVENT_NONE) return PRESSURE_UNKNOWN;
    if (p->stall_count) return PRESSURE_FAILED;
    return p->tight_events ? PRESSURE_TIGHT : PRESSURE_ROOMY;
}

bool memory_pressure_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                          struct arena *arena, struct memory_pressure *pressure, struct error *error) {
    *pressure = (struct memory_pressure){.tightest = MEMORY_EVENT_NONE, .largest_request = MEMORY_EVENT_NONE};
    pressure->moments = arena_new(arena, struct pressure_moment, MEMORY_PRESSURE_MAX_MOMENTS);
    if (!pressure->moments) return error_set(error, ERROR_TOO_BIG, "no memory left for the moments of pressure");
    find_largest_request(profile, timeline, pressure);
    if (!timeline_tells(timeline).free) return true;
    find_tightest(timeline, pressure);
    find_moments(profile, timeline, pressure);
    pressure->state = state_of(pressure);
    return true;
}
