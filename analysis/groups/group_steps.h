// Who holds the memory at any step, without the program: what is asked again for each place where a cursor rests.
//
//     grouping ──> row, key, its steps, bytes, what it is about ──> step S: those that cover S
//     (its module is not needed any more)
//
// It answers as memory_groups_at and group_facts_of do, some hundred bytes a buffer instead of the whole module. Lives,
// with copies of all texts, on the arena that it is made on; immutable.
#pragma once

#include "analysis/groups/group_facts.h"

struct group_step_row {
    struct grouped_row held;
    uint32_t start_step, end_step;  // half-open
    uint32_t about, place;          // texts
    uint32_t evidence;              // text; HLO_NONE without one
    enum buffer_phase_rule rule;    // of GROUP_BY_PHASE
};

struct group_steps {
    int64_t space;
    enum memory_group_by by;
    enum memory_group_rule rule;
    double line_share;
    uint32_t peak_step, last_step;
    int64_t *live_bytes;       // of each step
    struct string_table keys;  // numbered as in the grouping
    struct string_table texts;
    uint32_t *key_of_row;  // of the view
    uint32_t view_row_count;
    struct group_step_row *rows;  // those of the whole program, then the others by their first step
    uint32_t row_count, indefinite_count;
};

// A sentence in `error` at the arena's limit.
MUST_USE bool group_steps_make(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                               struct arena *arena, struct group_steps *steps, struct error *error);

// The heaviest first, each with its facts. `step` is at most the last. A sentence in `error` at the arena's limit.
MUST_USE bool group_steps_at(const struct group_steps *steps, uint32_t step, enum memory_group_weight weight,
                             struct arena *arena, struct memory_groups *groups, struct group_facts **facts,
                             struct error *error);
