// Which tables rows are looked up in, and what chips of a TPU hold whole of such rows where they share the table, the
// batch split or not.
//
//     ids [8192/4,80] -> all of [8192,80] on each chip
//     table f32[1600000/4,56] -> rows f32[8192,80,56], zeros where another chip has them -> summed -> f32[8192/4,80,56]
//     and back: gradients f32[8192/4,80,56] -> all of f32[8192,80,56] -> added to the rows that the chip has
//
// Rows that a fusion took are told from as many of nodes by the name of the lookup. Seen in modules that libtpu
// partitioned (docs/advice.md); tables that are split by columns need none of it, and modules of XLA:GPU have less.
#pragma once

#include "analysis/advice/advisor.h"
#include "analysis/advice/sharding_split.h"

// The leaf that node `index` takes rows of, at numbers that it is given; HLO_NONE: it takes none.
uint32_t looked_up_table(const struct advisor *advisor, uint32_t index);

// The table of some size that is split by its columns, since the chips do not divide its rows. What is looked up is
// split so too, and has no more chips for its examples. NULL: none.
const struct array_shape *looked_up_in_columns(const struct advisor *advisor, const struct sharding_split *split);

// For each leaf, how many whole arrays stand for it: 0 where it is split as said, 2 for rows looked up (as found, and
// with zeros), 1 for their gradients. On the arena. NULL: no memory, with the error set.
uint8_t *looked_up_find(const struct advisor *advisor, const struct sharding_split *split);

// On a GPU, of tables that chips share, but for their columns: the numbers of the rows that are looked up at once, in
// bytes, at most. A fusion that computes them as it looks gets them, and which of them are the chip's, as arrays then.
int64_t looked_up_numbers_bytes(const struct advisor *advisor, const struct sharding_split *split);

// On a GPU, all rows that are looked up in several tables which chips share, in bytes: their gradients may be gathered
// whole, those of all tables at once, or of one that more rows are drawn of than it has. 0 where there are few tables
// (words and places), and for the ends of edges.
int64_t looked_up_rows_bytes(const struct advisor *advisor, const struct sharding_split *split);

// On a GPU, the rows that no array has today, as fusions take them where they are used, in bytes: of a table that chips
// share by rows each looks up its own, and all of them are summed, whole, the batch split or not. All at once, as the
// compiler combines the sums.
int64_t looked_up_unfused_bytes(const struct advisor *advisor, const struct sharding_split *split);

// On a GPU, what is there as a table's gradient is made that chips share by its rows: the gradients of the rows that
// most are looked up at once, whole on each chip, beside its part of them where the batch is split; and for each place
// that looks up a gradient of the chip's part of the table. In bytes, of the table that has most. 0: nothing is
// trained.
//
//     rows f32[16/4,200,257,256]  ->  all-gather f32[16,200,257,256]  ->  scatter  ->  f32[4000000/4,256]
int64_t looked_up_scattered_bytes(const struct advisor *advisor, const struct sharding_split *split,
                                  bool is_batch_split);

// The largest buffer of such rows, in bytes.
int64_t looked_up_most_bytes(const struct advisor *advisor, const uint8_t *looked_up);
