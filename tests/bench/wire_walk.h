// The yardstick of the analysis: walks every field of every message of an HloProto that proto/hlo.proto knows, and does
// nothing else. No analysis can be faster without leaving something unread.
#pragma once

#include "proto/wire.h"

struct wire_walk {
    uint64_t field_count;
    uint64_t checksum;  // of all numbers and values, so that no compiler leaves the walk out
    bool is_damaged;
};

struct wire_walk wire_walk_hlo_proto(struct bytes blob);
