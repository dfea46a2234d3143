// Peak and total of every memory space of a program, without rows or curves: for lists of modules.
#pragma once

#include "analysis/memory/memory_totals.h"

struct memory_summary {
    int64_t space;
    int64_t peak_bytes;   // as memory_view.h has it
    int64_t total_bytes;  // thread-local ones left out
    int64_t thread_local_bytes;
};

struct memory_summary_list {
    struct memory_summary *summaries;  // one for each space that holds anything, ascending by space
    size_t count;
    struct error fault;  // of the first space whose trace cannot be replayed: it is left out, the others are there
};

MUST_USE bool memory_summaries(const struct hlo_module *module, struct arena *arena, struct memory_summary_list *list,
                               struct error *error);
