// What each change of a set brings, made one after the other, the cheapest first:
//
//     today         [############################]   52.9          |
//     rematerialize [###########]                    20.2   -32.7  |
//     halve batch   [######]                         11.0    -9.2  |   each total is a replay of all changes so far
//                                                              capacity
//
// The order is that of the costs (advice_cost.h): whoever stops early has made the changes that cost least. It does not
// alter the last total, but what each of them seems to save.
#pragma once

#include "analysis/advice/advice_sets.h"

// The set as a plan: steps, cost, totals. It is for the caller to say whether it is needed and fits. Every part of the
// set is known (advice_sets.h).
struct advice_plan waterfall_of(const struct advice *advice, unsigned set, enum advice_kind kind);
