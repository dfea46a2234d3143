// What makes a chip's share untellable. Where it is much of the program: rows that are looked up in tables which the
// chips share, copies of narrow tables, arrays that are joined along what they share, and with the batch whole
// convolutions of volumes. At all: Fourier transforms, and loops over time in which batch and columns meet.
#pragma once

#include "analysis/advice/sharded.h"

// Makes the advisor doubt all of the sharding in such a case.
void sharding_doubts_find(struct advisor *advisor, const struct sharded *sharded);

// With the batch whole, are there large arrays that are joined, or taken apart, along what the chips share? They send
// each other the pieces, which may be there all at once.
bool sharding_joins_much(const struct advisor *advisor, const struct sharded *sharded);
