// What the step graph is made of, for the files that build it and walk it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STEP_NODE_NONE UINT32_MAX

struct step_node {
    uint32_t subtree_end;    // one past the last node that this one encloses
    uint32_t produces;       // a context, or CONTEXT_NONE
    uint32_t next_consumer;  // of the context it consumes; STEP_NODE_NONE at the end
};

struct step_link {  // a context: who is reached through it
    uint32_t first_consumer;
    uint32_t producer_count, consumer_count;
    uint32_t last_producer;  // the only one that counts, STEP_NODE_NONE where all do
};

struct step_root {
    uint64_t metadata_id;
    int64_t begin_ps, duration_ps;
    uint32_t node;
    int32_t level;
    bool has_run, has_number;
    uint64_t run;    // the function's run, from the stat `id`
    int64_t number;  // iter_num, or step_num
};

struct step_executor {
    uint64_t run, iter_num;
    int64_t begin_ps, duration_ps;
    uint32_t node;
};
