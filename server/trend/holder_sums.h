// Who holds how much, summed by key while it is read, then as the figures of a point.
//
//     add("MatMul", 4 MiB) add("Relu", 1 MiB) add("MatMul", 2 MiB)  ──>  MatMul 6 MiB, 2 buffers; Relu 1 MiB, 1
//
// The keys are borrowed until finish, which copies those that it keeps.
#pragma once

#include "analysis/base/string_table.h"
#include "analysis/compare/memory_trend.h"

enum { HOLDERS_MAX = 48 };  // of a point; what they lack of the peak is the rest

struct holder_sums {
    struct string_table keys;
    struct trend_holder *rows;  // by number of the key
    uint32_t row_count;
    struct arena *arena;
    bool has_failed;
};

// Lives on `arena`. False at its limit.
MUST_USE bool holder_sums_init(struct holder_sums *sums, struct arena *arena);
void holder_sums_add(struct holder_sums *sums, struct bytes key, int64_t bytes, uint32_t buffers);

// The largest HOLDERS_MAX, on `arena`. False: an arena is at its limit.
MUST_USE bool holder_sums_finish(struct holder_sums *sums, struct arena *arena, struct trend_figures *figures);
