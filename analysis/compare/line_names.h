// What a program computes in each line, by op name, over all rows of a view: what tells lines that moved from lines
// that changed.
//
//     train.py:53   jit(f)/attn/dot  jit(f)/attn/add        sorted by key, then name; each once
//     train.py:55   jit(f)/mlp/dot
//
// Borrows sources and grouping; lives on the caller's arena.
#pragma once

#include "analysis/groups/memory_grouping.h"

struct line_name {
    struct bytes key, op_name;
};

struct line_names {
    struct arena *arena;
    struct line_name *list;
    uint32_t count;
};

// False at the arena's limit.
MUST_USE bool line_names_read(const struct buffer_sources *sources, const struct memory_grouping *grouping,
                              struct arena *arena, struct line_names *names);

// How many op names of a line are also in a line of another program.
uint32_t line_names_shared(const struct line_names *names, struct bytes key, const struct line_names *others,
                           struct bytes other_key);
