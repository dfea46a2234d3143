// How many bytes an allocation of a site holds while it is alive.
#pragma once

#include "analysis/profile/events/allocation_site.h"

// What the allocator took for it. TensorFlow's plain CPU allocator tells none: then what was requested.
static inline int64_t allocation_site_held_bytes(const struct allocation_site *site) {
    return site->allocated_bytes ? site->allocated_bytes : site->requested_bytes;
}
