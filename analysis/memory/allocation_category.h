// What an allocation is for. Every allocation is in exactly one category:
//
//     thread-local, else entry parameter (donated if it is also live out), else output, constant, temporary
//
// All but temporary ones are `indefinite`: alive from the first to the last step (IsIndefinite in
// xprof/convert/hlo_proto_to_memory_visualization_utils.cc, openxla/xprof a27d00aa).
#pragma once

#include "analysis/hlo/hlo_module.h"

enum allocation_category {
    ALLOCATION_PARAMETER,
    ALLOCATION_DONATED,
    ALLOCATION_OUTPUT,
    ALLOCATION_CONSTANT,
    ALLOCATION_TEMPORARY,
    ALLOCATION_THREAD_LOCAL,
    ALLOCATION_CATEGORY_COUNT,
};

enum allocation_category allocation_category_of(const struct hlo_allocation *allocation);

// "parameter", "donated", "output", "constant", "temporary", "thread-local".
const char *allocation_category_name(enum allocation_category category);

// Thread-local, entry parameter, constant or live out: alive for the whole program.
bool allocation_is_indefinite(const struct hlo_allocation *allocation);
