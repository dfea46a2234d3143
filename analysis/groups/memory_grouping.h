// The key of each row of a view, for each way to group: who it is summed under.
//
//     row              source          stack                        phase                shape       ...
//     fusion.14        gpt.py:53       train.py:9;gpt.py:53;...     saved for backward   f32[8,128]
//     copy-start.3     gpt.py:53       (from its operand fusion.14)
//     params__emb      params.emb      params.emb                   inputs
//
// Made once for a view; memory_groups.h sums at any step. Borrows the view and the sources; lives on the caller's
// arena.
#pragma once

#include "analysis/groups/buffer_phases.h"

enum memory_group_by {
    GROUP_BY_SOURCE,    // the reader's line, arguments by the root of their path: "gpt.py:53", "opt_state[0].nu"
    GROUP_BY_STACK,     // every frame, the outermost first: "train.py:9;gpt.py:53;linear.py:287"
    GROUP_BY_SCOPE,     // the named scopes of its op_name: "Model/h/3/attn"
    GROUP_BY_ARGUMENT,  // the path of the argument that it is or is copied from
    GROUP_BY_PHASE,     // of a training step
    GROUP_BY_CATEGORY,  // of the allocation
    GROUP_BY_DTYPE,
    GROUP_BY_SHAPE,  // without layout
    GROUP_BY_OPCODE,
    GROUP_BY_COUNT,
};

const char *memory_group_by_name(enum memory_group_by by);  // "source"
bool memory_group_by_of(const char *name, enum memory_group_by *by);

// How GROUP_BY_SOURCE names what is computed. One line that holds more than GROUP_RULE_LINE_MOST of it says little:
// then names, with layer numbers starred ("Model/h/*/attn"), where they part it further. Chosen at the peak, for all
// steps.
enum memory_group_rule { GROUP_RULE_LINES, GROUP_RULE_NAMES };
#define GROUP_RULE_LINE_MOST 0.8

extern const struct bytes MEMORY_GROUP_UNKNOWN;  // the key of what nothing is known of

struct memory_grouping {
    const struct memory_view *view;
    enum memory_group_by by;
    enum memory_group_rule rule;
    double line_share;  // of GROUP_BY_SOURCE: what the largest line holds of what is computed at the peak
    struct string_table keys;
    uint32_t *key_of_row;
    uint32_t unknown;             // key
    struct buffer_phases phases;  // of GROUP_BY_PHASE
};

// `view` is exact. A sentence in `error` at the arena's limit.
MUST_USE bool memory_grouping_make(const struct memory_view *view, const struct buffer_sources *sources,
                                   enum memory_group_by by, struct arena *arena, struct memory_grouping *grouping,
                                   struct error *error);

// GROUP_BY_SOURCE by GROUP_RULE_NAMES, whatever a line holds: what is set beside another program that needs names.
MUST_USE bool memory_grouping_make_by_names(const struct memory_view *view, const struct buffer_sources *sources,
                                            struct arena *arena, struct memory_grouping *grouping, struct error *error);
