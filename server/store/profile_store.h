// Memory profiles of a session's files, and the pyramids of their memories, which answer a window of any size at once;
// read once and kept in the cache (file_store.h).
//
//     "profile <version> <path>"           ──> the columns of one file
//     "pyramid <index> <version> <path>"   ──> timeline_pyramid of one memory of that profile
//
// What these functions return stays valid until the work ends. The files were looked at.
#pragma once

#include "analysis/profile/memory_profile.h"
#include "analysis/profile/questions/timeline_pyramid.h"
#include "server/store/file_store.h"

// The profile of one file, through the cache. A file that is damaged gives what stands before the fault, and the
// fault. NULL: *error is filled.
MUST_USE const struct memory_profile *profile_store_load(struct work *work, const struct input_file *file,
                                                         struct error *error);

// The pyramid of a timeline of `profile`, which was loaded from `file`. NULL: *error is filled.
MUST_USE const struct timeline_pyramid *profile_store_pyramid(struct work *work, const struct input_file *file,
                                                              const struct memory_profile *profile,
                                                              const struct memory_timeline *timeline,
                                                              struct error *error);
