// Which group of one program is which of another: by its key, or where lines have moved or scopes and arguments have
// other names, by its buffers.
//
//     A  train.py:53 [x y]    train.py:55 [z]         x y z are paired one by one (buffer_pairs.h)
//     B  train.py:55 [x y]    train.py:57 [z]         so 53 is 55 now, and 55 is 57
//
// A key stays with itself as long as some of its buffers do. Else the two lines of one file that share most bytes are
// one, where these are half of either's, and where the whole program says so: more of what A computes in line 53, at
// the peak or not, is computed in B's line 55 than in B's line 53. What is then left over is paired by key.
//
//     A  attention [x y]      mlp [z]                  a scope that A alone has, and one that B alone has, are one
//     B  self_attn [x y]      mlp [z]                  when they share half of either's bytes
//
// A name that both have stays with itself. What a key says of the buffer itself (its type, shape, category) is no name.
#pragma once

#include "analysis/compare/buffer_pairs.h"
#include "analysis/groups/memory_groups.h"

struct grouped_side {
    const struct buffer_sources *sources;
    const struct memory_grouping *grouping;
    const struct memory_groups *groups;  // at the peak
    const struct compared_buffers *buffers;
};

struct moved_keys {
    uint32_t *of_a;  // for each row of A's groups its row in B's, or UNPAIRED
    uint32_t *of_b;
};

enum moved_by { MOVED_BY_KEY, MOVED_BY_LINE, MOVED_BY_NAME };  // what the keys are: facts, lines, names

// False at the arena's limit.
MUST_USE bool moved_keys_find(const struct grouped_side *a, const struct grouped_side *b,
                              const struct buffer_pairs *pairs, enum moved_by by, struct arena *arena,
                              struct moved_keys *moved);
