// The pyramids of a session's memories, built once and kept in the cache: they answer a window of any size at once.
//
//     "pyramid <index of the memory> <profile's key>" ──> timeline_pyramid, in one arena
#pragma once

#include "analysis/profile/questions/timeline_pyramid.h"
#include "server/store/profile_store.h"

// The pyramid of a timeline of `profile`, which was loaded from `file`; it stays until the work ends. NULL: *error is
// filled.
MUST_USE const struct timeline_pyramid *pyramid_store_get(struct work *work, const struct input_file *file,
                                                          const struct memory_profile *profile,
                                                          const struct memory_timeline *timeline, struct error *error);
