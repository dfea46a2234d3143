// Who holds the memory at a step: the rows of a view summed by source line, argument, phase, ...
//
//     stays of the heap (heap_replay.h)      live at step S        rows of the table
//     a [................]                        a  train.py:53    train.py:53   a + c   2 buffers
//     b      [......]                             b  train.py:69    train.py:69   b       1
//     c        [...............]                  c  train.py:53    params.emb    p       1
//     p (indefinite, whole program)               p  params.emb
//              S                                                    sum = live bytes of step S, to the byte
//
// A step is an event of the heap simulation, and what is live then is what is live after it, as in memory_view.h; a
// program without a simulation has step 0 only. Bytes that buffers share are counted once, under the buffer that stands
// for them. What a trace counts and no buffer explains (a damaged one) is a row of no buffers.
//
// Borrows the grouping; lives on the caller's arena.
#pragma once

#include "analysis/groups/memory_grouping.h"

// What makes a group large: its bytes, those of them that are padding, or bytes times the steps that they live, which
// tells what is held throughout from what comes and goes.
enum memory_group_weight {
    GROUP_WEIGHT_SIZE,
    GROUP_WEIGHT_PADDING,
    GROUP_WEIGHT_SIZE_X_LIFETIME,
    GROUP_WEIGHT_COUNT,
};

const char *memory_group_weight_name(enum memory_group_weight weight);  // "size_x_lifetime"
bool memory_group_weight_of(const char *name, enum memory_group_weight *weight);

struct memory_group {
    struct bytes key;
    uint32_t key_number;  // among those of the grouping
    int64_t size_bytes;
    int64_t padding_bytes;    // none where the shape is unknown
    int64_t size_x_lifetime;  // INT64_MAX where it is more
    uint32_t buffers;
    uint32_t first_member;  // into members; `buffers` of them
};

struct memory_groups {
    uint32_t step;
    int64_t live_bytes;
    enum memory_group_weight weight;
    double whole_weight;        // of all rows
    struct memory_group *rows;  // the heaviest first, equal ones by size, then by key
    uint32_t row_count;
    uint32_t *members;  // rows of the view
    uint32_t member_count;
    int64_t unknown_bytes;
};

// The last step that may be asked for.
uint32_t memory_groups_last_step(const struct memory_view *view);

// The step of the peak.
uint32_t memory_groups_peak_step(const struct memory_view *view);

enum { MEMORY_GROUPS_AT_PEAK = -1 };

// The step that is asked for. False: the memory space has no such step.
MUST_USE bool memory_groups_step_of(int64_t space, uint32_t peak, uint32_t last, int64_t asked, uint32_t *step,
                                    struct error *error);
MUST_USE bool memory_groups_step(const struct memory_view *view, int64_t asked, uint32_t *step, struct error *error);

// A row that is live at the step, and what it adds to its group.
struct grouped_row {
    uint32_t row, key;
    int64_t size_bytes, padding_bytes, size_x_lifetime;
};

// What a row of the view adds when it holds `size_bytes`.
struct grouped_row grouped_row_of(const struct memory_grouping *grouping, uint32_t row, int64_t size_bytes);

// The groups of `rows`, by size; what they lack of `live_bytes` is of the unknown one. False at the arena's limit.
MUST_USE bool memory_groups_sum(const struct string_table *keys, const struct grouped_row *rows, uint32_t count,
                                int64_t live_bytes, struct arena *arena, struct memory_groups *groups);

// By size. `step` is at most the last. A sentence in `error` at the arena's limit.
MUST_USE bool memory_groups_at(const struct memory_grouping *grouping, uint32_t step, struct arena *arena,
                               struct memory_groups *groups, struct error *error);

// The heaviest first.
void memory_groups_weigh(struct memory_groups *groups, enum memory_group_weight weight);

// What a group weighs of all that is live, 0 to 1.
double memory_group_share(const struct memory_groups *groups, const struct memory_group *group);
