// Device memory profiles: which ones a session has, read once and kept in the cache.
//
//     session "memory.prof"    a file outside any session's folder     ──> that file
//     session "2026_11_20"     a session of the list                   ──> those in its folder, listed anew
//     "device_memory <version> <path>"                                 ──> the profile (file_store.h)
//
// What these functions return stays valid until the work ends.
#pragma once

#include "analysis/device_memory/device_memory_profile.h"
#include "analysis/input/catalog.h"
#include "server/store/store.h"

struct device_memory_session {
    const char *name;
    struct session_files files;  // by name; none is no error
};

// ERROR_NOT_FOUND names the sessions there are.
MUST_USE bool device_memory_store_open(struct store *store, struct work *work, const char *name,
                                       struct device_memory_session *session, struct error *error);

// The file of that name; of a session with one file, NULL means that one. NULL: *error is filled and names the files.
MUST_USE const struct input_file *device_memory_store_find(const struct device_memory_session *session,
                                                           const char *file_name, struct error *error);

// The profile, through the cache. NULL: *error is filled.
MUST_USE const struct device_memory_profile *device_memory_store_load(struct work *work, const struct input_file *file,
                                                                      struct error *error);
