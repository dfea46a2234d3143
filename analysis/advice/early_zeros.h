// Zeros that gradients of tables, and of stacks over layers, begin as on several chips of a GPU.
//
//     one chip       forward .....| backward ....... zeros, scatter, update | zeros, scatter, update |
//     four chips     forward .....| zeros, zeros | backward ....... scatter, update | scatter, update |
//
// XLA:GPU orders the steps of several chips to hide what is sent (its latency-hiding scheduler), and makes what depends
// on nothing early: in ten programs with tables, about where the step turns, while a single chip makes it just before
// the scatter. So the gradients of all tables are there at once. An optimizer that reads zeros itself, as Adagrad does
// where a sum is still 0, reads the same: XLA makes two of them at once, and keeps one for it, through a loop over
// parts of the batch too. Says nothing of other arrays that depend on nothing.
#pragma once

#include "analysis/advice/advisor.h"
#include "analysis/advice/shape_set.h"

struct early_zeros {
    int64_t bytes;       // of all of them
    int64_t peak_bytes;  // the most that is alive at any step with them there from the turn on; 0: there are none
};

// With buffers of these sizes. None at the arena's limit.
struct early_zeros early_zeros_find(const struct advisor *advisor, const int64_t *sizes);

// Those that an update reads itself, of these tables (only_looked_up.h).
int64_t early_zeros_read_bytes(const struct advisor *advisor, const struct shape_set *tables);
