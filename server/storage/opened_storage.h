// The storage that a path of the user's means: this machine's disks, the bucket of a URL, a file on a web server.
//
//     /data/run, run.xplane.pb          local_storage
//     gs://bucket/run, s3://bucket/run  object_storage
//     https://host/a.xplane.pb?sig=..   the same, of one object; what follows the "?" is a secret and goes no further
//     ftp://host/run                    ERROR_BAD_REQUEST: which places there are
#pragma once

#include "analysis/input/storage.h"

struct object_storage;

// How buckets are read; of the disks nothing here matters.
struct storage_settings {
    int cache_mib;           // kept in memory
    const char *disk_cache;  // the folder that keeps blocks between runs (disk_cache.h); NULL: none
    int disk_cache_mib;
};

static inline struct storage_settings storage_settings_usual(void) {
    return (struct storage_settings){.cache_mib = 64, .disk_cache_mib = 1024};
}

struct opened_storage {
    const struct storage *storage;
    struct object_storage *objects;  // NULL: local
    const char *path;                // the given one as the storage knows it, and as it may be told
    char *address;                   // where `path` lies, if it is not what was given
};

// Asks no server yet. A disk cache inside the folder that is opened is ERROR_BAD_REQUEST. `path` outlives it; NULL: the
// local storage. When it fails, opened->path is still to be told.
MUST_USE bool opened_storage_begin(struct opened_storage *opened, const char *path,
                                   const struct storage_settings *settings, struct error *error);

// Links of this machine may lead out of the path (--follow_symlinks). To be said before anything is asked.
void opened_storage_follow_links(struct opened_storage *opened);

void opened_storage_end(struct opened_storage *opened);
