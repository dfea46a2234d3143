// A bucket as a storage (analysis/input/storage.h): folders are prefixes, files are objects, nothing is ever written.
//
//     look, list    object_listings: names by the thousand, which hold for some seconds
//     open          no request: the listing said how large the object is, and which version
//     read          [ block | block |   miss   | ... ]  object_reader: blocks that are kept, and ahead of the reader;
//                                                       large reads in parallel ranges
//
// Every range is asked for of the version that was listed: an object that is replaced meanwhile is an error, never a
// mixture.
#pragma once

#include "analysis/input/storage.h"
#include "server/storage/environment.h"
#include "server/storage/http_client.h"

struct object_storage;

struct object_storage_limits {
    size_t cache_bytes;
    const char *disk_cache;  // a folder (disk_cache.h); NULL: none
    uint64_t disk_cache_bytes;
    struct http_patience patience;
};

// The storage of the bucket that a URL ("gs://bucket/prefix") names. NULL: *error is filled. Asks no server yet.
struct object_storage *object_storage_open(const char *url, environment_reader *environment,
                                           const struct object_storage_limits *limits, struct error *error);
void object_storage_close(struct object_storage *storage);  // nobody may use it; NULL is fine

const struct storage *object_storage_of(const struct object_storage *storage);

struct http_traffic object_storage_traffic(const struct object_storage *storage);
