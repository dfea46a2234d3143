// Memory profiles of a session's files, read once and kept in the cache.
//
//     "profile <file identity> <path>" ──> the columns of one file, in one arena
//
// What these functions return stays valid until the work ends.
#pragma once

#include "analysis/profile/memory_profile.h"
#include "server/store/store.h"

// The profile of one file, through the cache. A file that is damaged gives what stands before the fault, and the
// fault. NULL: *error is filled.
MUST_USE const struct memory_profile *profile_store_load(struct work *work, const struct input_file *file,
                                                         struct error *error);

// Names the version of the file that is there now, for keys of replies; on the work's arena. NULL: *error is filled.
MUST_USE const char *profile_store_key(struct work *work, const struct input_file *file, struct error *error);
