#include "analysis/profile/steps/step_event.h"

#include "analysis/profile/events/host_stat.h"

// A fact's number plus one, by kind of stat; the types of contexts and levels are 32-bit ints in XProf.
static const struct {
    uint8_t fact_plus_one;
    bool is_int32;
} uses[HOST_STAT_KIND_COUNT] = {
    [HOST_STAT_PRODUCER_TYPE] = {STEP_FACT_PRODUCER_TYPE + 1, true},
    [HOST_STAT_PRODUCER_ID] = {STEP_FACT_PRODUCER_ID + 1, false},
    [HOST_STAT_CONSUMER_TYPE] = {STEP_FACT_CONSUMER_TYPE + 1, true},
    [HOST_STAT_CONSUMER_ID] = {STEP_FACT_CONSUMER_ID + 1, false},
    [HOST_STAT_ROOT] = {STEP_FACT_ROOT + 1, true},
    [HOST_STAT_ASYNC] = {STEP_FACT_ASYNC + 1, false},
    [HOST_STAT_STEP_ID] = {STEP_FACT_RUN + 1, false},
    [HOST_STAT_ITER_NUM] = {STEP_FACT_ITER_NUM + 1, false},
    [HOST_STAT_STEP_NUM] = {STEP_FACT_STEP_NUM + 1, false},
};

static void take_stat(enum host_stat_kind kind, const struct stat_value *value, struct step_event *read) {
    if (uses[kind].fact_plus_one == 0) return;
    unsigned fact = uses[kind].fact_plus_one - 1u;
    uint64_t number = stat_int_or_uint(value);
    read->has[fact] = true;
    read->value[fact] = uses[kind].is_int32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)number : number;
}

static void make_root(struct step_event *read, uint64_t level) {
    read->has[STEP_FACT_ROOT] = true;
    read->value[STEP_FACT_ROOT] = level;
}

// The levels that XProf gives to roots by name (XplaneRootEventMutatorFactory), and to the old kind of root.
static void add_known_roots(enum host_event_kind kind, struct step_event *read) {
    if (kind == HOST_EVENT_BATCH_ROOT) make_root(read, 2);
    if (kind == HOST_EVENT_SESSION_ROOT) make_root(read, 1);
    if (kind == HOST_EVENT_TRACE_CONTEXT && !read->has[STEP_FACT_ROOT]) make_root(read, 1);
}

void step_event_read(const struct host_event *event, const struct metadata_kinds *stats, struct step_event *read) {
    struct wire w = event->stats;
    enum host_stat_kind kind;
    struct stat_value value;
    *read = (struct step_event){0};
    while (host_stat_next(&w, stats, &kind, &value)) take_stat(kind, &value, read);
    add_known_roots(event->kind, read);
}
