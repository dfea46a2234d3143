// The ops of a profile, each once, and which of them an allocation site belongs to: so that totals per op need no look
// at a text, and none at an event.
//
//     site    0         1         2        3           op_of_site [ 0 1 0 2 ]
//     op      "MatMul"  "Relu"    "MatMul" ""    -->   names      [ "MatMul" "Relu" "" ]
#pragma once

#include "analysis/profile/events/allocation_site.h"

struct site_ops {
    uint32_t *op_of_site;
    struct bytes *names;  // in order of first appearance; "" stands for events that told none
    uint32_t count;
};

// ERROR_TOO_BIG when the arena is at its limit.
MUST_USE bool site_ops_make(const struct allocation_sites *sites, struct arena *arena, struct site_ops *ops,
                            struct error *error);
