// Device memory profiles: those of a session that was opened for them (STORE_LIST_DEVICE_MEMORY), read once and kept in
// the cache.
//
//     "device_memory <version> <path>"   ──> the profile (file_store.h)
//
// What these functions return stays valid until the work ends.
#pragma once

#include "analysis/device_memory/device_memory_profile.h"
#include "analysis/input/catalog.h"
#include "server/store/store.h"

// The file of that name; of a session with one file, NULL means that one. NULL: *error is filled and names the files.
MUST_USE const struct input_file *device_memory_store_find(const struct session *session, const char *file_name,
                                                           struct arena *arena, struct error *error);

// The profile, through the cache. NULL: *error is filled.
MUST_USE const struct device_memory_profile *device_memory_store_load(struct work *work, const struct input_file *file,
                                                                      struct error *error);
