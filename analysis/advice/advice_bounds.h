// What no prediction may leave, whatever the program looks like: a change saves at most the bytes that it touches, and
// costs at most what it is known to add.
//
//     total - touched   <=   predicted   <=   total + added
//     stays             <=   low          what stays: inputs, outputs and constants that the change leaves as they are
//
// What is touched is counted by whole allocations and buffers, so the bound holds for any packing of them; temporary
// bytes never count for more than the temporary allocations are large. A replay can leave the bounds where the heap
// that is simulated and the heap that is allocated have little to do with each other.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/advice/what_if.h"

struct advice_reach {
    int64_t indefinite_bytes;  // allocations with a buffer of another size, or that go
    int64_t temporary_bytes;   // buffers of another size, each once
    int64_t added_bytes;
};

// What giving the buffers other sizes reaches.
struct advice_reach advice_reach_of(const struct what_if *what_if, const struct what_if_change *change);

// The larger of two, part by part: of a change that is replayed in several ways.
struct advice_reach advice_reach_join(struct advice_reach a, struct advice_reach b);

// Puts the item's totals and range inside the bounds, and notes these. Is the prediction another one then?
bool advice_bounds_hold(const struct what_if *now, const struct advice_reach *reach, struct advice_item *item);
