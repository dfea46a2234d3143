// What changes cost whoever makes them; plans are the cheapest sets that fit.
//
//     numerics   what comes out is another number     0 the same bits, but for rounding ... 2 may train differently
//     speed      a step takes longer                  0 as fast ... 4 waits for the host in each block
//     work       what is to be written and tried      1 a line ... 4 the whole input pipeline
//     chips      more of them than the program has    0, 1
//
//     points = 4 numerics + 2 speed + work + 16 chips       one table, in advice_cost.c; docs/advice.md shows it
//
// The costs of a set add up, so a change that is not needed is never in the cheapest. They are a judgement, not a
// measurement: only the order of the points is meant.
#pragma once

#include "analysis/advice/advice_sets.h"

// Of the set's changes on this program: shards over no more chips than it is compiled for need none.
struct advice_cost advice_cost_of(const struct advice *advice, unsigned set);

int advice_cost_points(struct advice_cost cost);

// The changes that leave the numerics, or the speed, as they are.
unsigned advice_sets_of_same_numerics(void);
unsigned advice_sets_of_same_speed(void);
