// How far a prediction holds of a program that the compiler had to squeeze into its chip.
//
//     names with .remat   the program's total      a change's range
//     none, or            well below the chip's    as it is
//     16 and more         85 % of the chip's       widened: what was squeezed comes back, or more is squeezed out
//     fewer                                        as wide as what is known to be out (unsqueezed.h); else up by the
//                                                  largest array that is computed a second time
//
// The total itself is what_if's, which takes half of what is out to come back. Without a capacity any program is near.
#pragma once

#include "analysis/advice/advisor.h"

// Next to no room, where the capacity is known: what a change frees the compiler may fill again.
bool near_capacity_is(const struct advisor *advisor);

// Fills is_rematerialized, is_squeezed, and what is rematerialized in bytes.
void near_capacity_find(struct advisor *advisor);

// The range of a change that saves something, and a sentence why.
void near_capacity_widen(const struct advisor *advisor, struct advice_item *item);
