// From an open file to a device memory profile: what begins as a pprof is loaded whole, its parts are counted, then
// read (pprof_load.h).
#pragma once

#include "analysis/device_memory/device_memory_profile.h"
#include "analysis/input/byte_source.h"

// Reads the file. On false *error is filled, with the file.
MUST_USE bool device_memory_profile_read(struct byte_source *source, struct arena *arena,
                                         struct device_memory_profile *profile, struct error *error);
