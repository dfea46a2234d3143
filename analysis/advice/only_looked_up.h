// Tables of a step that trains little else, which rows are taken of and nothing is multiplied with: the features of a
// recommendation, not the words of a language model.
//
//     table f32[1340000,88] -- gather --> rows f32[18432,88] -- astype, products
//
// Their source takes rows and then widens those (flax and haiku do, and five of seven programs that were compiled, see
// docs/advice.md): what has the table's dimensions, copies and gradients, has the type that it is stored in.
#pragma once

#include "analysis/advice/advisor.h"
#include "analysis/advice/shape_set.h"

// The dimensions of those in float32, where they are most of what is trained; else none. Borrows the program's shapes.
struct shape_set only_looked_up_find(const struct advisor *advisor);

// A TPU takes rows of tables that lie by rows: which copies of them, and of their gradients, are there at once is
// another matter after a change. Widens the item's range by this part of what is live of them at the peak, down and up.
void only_looked_up_widen(const struct advisor *advisor, double may_move, struct advice_item *item);
