// Which files are device memory profiles: what jax.profiler.save_device_memory_profile writes, under a name that the
// user chose.
//
//     name       *.prof  *.pprof  *.pb, each also .gz, and no name of input_name.h      worth a look inside
//     content    as device_memory_look.h tells                                          is one, another, broken
//
// So neither Python's cProfile (*.prof), nor a TensorFlow graph (*.pb), nor a pprof of CPU time is taken for one. What
// is broken (empty, cut before its first field, garbage) is listed under a name that promises one, *.prof or *.pprof,
// for opening it says what is wrong; a *.pb may be anything. Each version of a file is looked into once where its
// storage keeps what was found (storage.h). Links are followed only while they stay inside the root.
//
// One that lies in a session's folder belongs to that session; any other one is a session of its own (catalog.h).
#pragma once

#include "analysis/input/storage.h"
#include "proto/bytes.h"

// Whether the name alone may be that of one.
bool device_memory_name_fits(struct bytes file_name);

// Whether it is the name of nothing but a profile, of this kind or another.
bool device_memory_name_promises(struct bytes file_name);

// Whether to list the file, which was seen in this version (unknown: nothing is kept of the look); reads it. True also
// when it is there and cannot be read: whoever opens it learns why. *is_broken: it is listed for its name.
bool device_memory_file_fits(const struct storage *storage, const char *path, const struct file_version *version,
                             bool *is_broken);

// Whether it is none, whatever its name, and then why: looks once more.
bool device_memory_file_is_none(const struct storage *storage, const char *path, struct error *why);

// Whether a folder that is listed already has a file with such a name.
bool device_memory_files_any(const struct folder *folder);

// Of the files of a folder that have such a name, with their versions (file_stamp.h): looks at each, opens none.
uint64_t device_memory_files_stamp(const struct folder *folder, const struct storage *storage, const char *path,
                                   struct arena *scratch);
