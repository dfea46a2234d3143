// Which files are device memory profiles: what jax.profiler.save_device_memory_profile writes, under a name that the
// user chose.
//
//     name       *.prof  *.pprof  *.pb, each also .gz, and no name of profile_name.h    worth a look inside
//     content    inflated where it is gzip, the first field is a sample type of pprof,
//                one of its sample types is space/bytes                                  is one
//
// So neither Python's cProfile (*.prof), nor a TensorFlow graph (*.pb), nor a pprof of CPU time is taken for one. The
// look inside reads up to the names of the sample types, which a small real file has in its first kilobytes, and at
// most DEVICE_MEMORY_LOOK_BYTES. A file that starts as one and is cut or damaged before these names counts as one:
// opening it says what is wrong. Links are followed only while they stay inside the root.
//
// One that lies in a session's folder belongs to that session; any other one is a session of its own (catalog.h).
#pragma once

#include "analysis/input/storage.h"
#include "proto/bytes.h"

enum { DEVICE_MEMORY_LOOK_BYTES = 16 << 20 };

// Whether the name alone may be that of one.
bool device_memory_name_fits(struct bytes file_name);

// Whether the content is one; reads the file. True also when it is there and cannot be read.
bool device_memory_content_fits(const struct storage *storage, const char *path);

// Whether a folder that is listed already has a file with such a name.
bool device_memory_files_any(const struct folder *folder);

// Of the files of a folder that have such a name, with their versions (file_stamp.h): looks at each, opens none.
uint64_t device_memory_files_stamp(const struct folder *folder, const struct storage *storage, const char *path,
                                   struct arena *scratch);
