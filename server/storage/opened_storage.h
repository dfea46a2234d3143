// The storage that a path of the user's means: this machine's disks, or the bucket of a URL.
//
//     /data/run, run.xplane.pb          local_storage
//     gs://bucket/run, s3://bucket/run  object_storage
//     ftp://host/run                    ERROR_BAD_REQUEST: which places there are
#pragma once

#include "analysis/input/storage.h"

struct object_storage;

struct opened_storage {
    const struct storage *storage;
    struct object_storage *objects;  // NULL: local
};

// Asks no server yet. Between begin and end, `path` is a path of the storage. Without a path: the local one.
MUST_USE bool opened_storage_begin(struct opened_storage *opened, const char *path, struct error *error);
void opened_storage_end(struct opened_storage *opened);
