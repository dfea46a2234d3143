// How many bytes each memory space of a program holds, by category: sums over the buffer allocations, no simulation.
//
//     total = parameter + donated + output + constant + temporary          (XProf's totalBufferAllocationMib)
//     total + thread-local = the compiler's own memory-usage report of that space, to the byte
#pragma once

#include "analysis/memory/allocation_category.h"

struct memory_totals {
    int64_t space;  // memory space ("color")
    int64_t bytes[ALLOCATION_CATEGORY_COUNT];
    int64_t total_bytes;       // thread-local ones left out, as XProf does
    int64_t indefinite_bytes;  // total without temporary
    uint32_t allocation_count;
};

struct memory_totals_list {
    struct memory_totals *spaces;  // ascending by space
    size_t space_count;
};

enum { MEMORY_SPACES_MAX = 64 };  // compilers use a dozen; more is ERROR_MALFORMED

// Sums every allocation of the module. Sums that overflow int64 are ERROR_MALFORMED.
MUST_USE bool memory_totals_list(const struct hlo_module *module, struct arena *arena, struct memory_totals_list *list,
                                 struct error *error);

// The totals of one space; zeros when it holds nothing.
struct memory_totals memory_totals_of(const struct memory_totals_list *list, int64_t space);

enum { MEMORY_SPACE_NAME_BYTES = 40 };

// "HBM", "VMEM", ... as XProf's memory type selector calls them, else "Memory space N". Writes into `text`, returns it.
const char *memory_space_name(int64_t space, char text[MEMORY_SPACE_NAME_BYTES]);
