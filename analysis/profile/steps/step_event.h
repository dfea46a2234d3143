// What the stats of one host event say about steps: what it starts, what started it, whether it is a root.
#pragma once

#include "analysis/profile/events/host_event.h"

enum step_fact {  // what a stat can tell; each is there or not
    STEP_FACT_PRODUCER_TYPE,
    STEP_FACT_PRODUCER_ID,
    STEP_FACT_CONSUMER_TYPE,
    STEP_FACT_CONSUMER_ID,
    STEP_FACT_ROOT,      // the level of a root event
    STEP_FACT_ASYNC,     // not 0: not nested in what is around it
    STEP_FACT_RUN,       // `id`: of a function's run
    STEP_FACT_ITER_NUM,  // of a loop in it
    STEP_FACT_STEP_NUM,
    STEP_FACT_COUNT,
};

struct step_event {
    bool has[STEP_FACT_COUNT];
    uint64_t value[STEP_FACT_COUNT];
};

void step_event_read(const struct host_event *event, const struct metadata_kinds *stats, struct step_event *read);
