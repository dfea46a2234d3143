// Changes made together: sets of interventions as bits, and what each leaves, replayed as one program.
//
//     set         bit i: the intervention of id i
//     together    set {donate, halve_batch} -> 4,210 MiB    one entry for each set of two or more that was asked
//
// A set of one is its item. The table is sorted by set. Every part of a set that was asked is an item or was asked too.
// Private to this room, but for the table, which the advice carries: plans for other capacities are made of it when
// the program is closed again.
#pragma once

#include "analysis/advice/advice.h"

enum { ADVICE_ALL = (1u << ADVICE_CHANGE_COUNT) - 1 };

struct advice_range {
    int64_t low_bytes, high_bytes;
    int64_t kept_low_bytes;  // where a change has two totals, the least of the first (advice.h); 0: as low_bytes
};

static inline bool advice_set_has(unsigned set, enum advice_id id) {
    return set >> id & 1;
}

static inline int advice_set_count(unsigned set) {
    return __builtin_popcount(set);
}

static inline bool advice_set_is_single(unsigned set) {
    return (set & (set - 1)) == 0;
}

// Each change that applies and saves bytes.
unsigned advice_set_useful(const struct advice *advice);

// Does each of the set apply and save bytes, and does none exclude another?
bool advice_set_is_sensible(const struct advice *advice, unsigned set);

// The total of the program with all changes of a sensible set made; today's of the empty set; INT64_MAX where nobody
// asked.
int64_t advice_set_total(const struct advice *advice, unsigned set);

// Where that total will be: each change may be off as it may by itself, in parts of the total, whatever the others are.
struct advice_range advice_set_range(const struct advice *advice, unsigned set);

// By set, for qsort.
int advice_together_order(const void *left, const void *right);

// All sets whose total is known: `index` from 0 to advice_set_known_count; 0 for those that are not sensible.
size_t advice_set_known_count(const struct advice *advice);
unsigned advice_set_known(const struct advice *advice, size_t index);
