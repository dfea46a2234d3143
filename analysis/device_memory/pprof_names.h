// The strings of a pprof file, by index: each distinct text has one number, so that equal names are equal numbers.
//
//     file   ["", "buffer", "cpu:0", "buffer"]         numbers   [0, 1, 2, 1]         table   ["", "buffer", "cpu:0"]
#pragma once

#include "analysis/base/error.h"
#include "analysis/base/string_table.h"

struct pprof_names {
    struct string_table table;
    uint32_t *numbers;  // by index
    uint32_t count;
};

// Gathers the `count` strings of the profile. False when the arena is at its limit.
MUST_USE bool pprof_names_read(struct bytes profile, uint32_t count, struct arena *arena, struct pprof_names *names);

// The number; that of "" for an index that names nothing.
uint32_t pprof_names_index(const struct pprof_names *names, uint64_t index);

// "" for an index that names nothing.
struct bytes pprof_names_text(const struct pprof_names *names, uint64_t index);
