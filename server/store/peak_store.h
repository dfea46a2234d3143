// The peaks of each file of a session (memory_peaks.h), made once for each version of a file and kept, because the
// profiles that they are taken from are much larger and are let go: 256 hosts are compared in the memory of a few.
//
//     "peaks <version> <path>"                  ──> of a Memory Profile: its memories, held by ops
//     "device_memory_peaks <version> <path>"    ──> of a device memory profile: its devices, held by lines of code
//
// What these functions return stays valid until the work ends.
#pragma once

#include "analysis/across/memory_peaks.h"
#include "analysis/device_memory/device_memory_profile.h"
#include "server/store/profile_store.h"

// The peaks of one file; NULL: *error is filled.
typedef const struct memory_peaks *peak_store_load(struct work *work, const struct input_file *file,
                                                   struct error *error);
MUST_USE peak_store_load peak_store_of_profile, peak_store_of_device_memory;

// The same when they are known already, else NULL at once.
typedef const struct memory_peaks *peak_store_known(struct work *work, const struct input_file *file);
MUST_USE peak_store_known peak_store_known_of_profile, peak_store_known_of_device_memory;

// Of what is loaded, onto `arena`.
MUST_USE bool peaks_of_profile(const struct memory_profile *profile, struct arena *arena, struct memory_peaks *peaks,
                               struct error *error);
MUST_USE bool peaks_of_device_memory(const struct device_memory_profile *profile, struct arena *arena,
                                     struct memory_peaks *peaks, struct error *error);
