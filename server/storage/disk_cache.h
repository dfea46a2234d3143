// Blocks of objects that outlive the program: a folder of the user's, outside every log directory.
//
//     DIR/hbmview-blocks/<64 hex digits>     a checksum of what follows, then the block
//
// The name is a hash of bucket, object, version and block, so that a replaced object is another one and nothing in the
// folder tells what it is of. A file appears whole (it is renamed into place), and one that is damaged is removed and
// counts as not there; so any number of processes may share a folder. What was used longest ago goes when the limit is
// passed: from then on an eighth of it is free again. Files are for the user alone (0600); no credential is in them.
// Nothing that fails here is an error of whoever reads: it is then fetched. Thread-safe.
#pragma once

#include "analysis/base/error.h"
#include "proto/bytes.h"

struct disk_cache;

// Makes the folder if only it is missing. NULL: *error is filled.
struct disk_cache *disk_cache_open(const char *folder, uint64_t limit_bytes, struct error *error);
void disk_cache_close(struct disk_cache *cache);  // NULL is fine

// Which block: `object` names the version of the object, and where it is, in one text.
struct disk_block {
    const char *object;
    uint64_t number;
};

// Reads the block, all `size` bytes of it. False: it is not there.
bool disk_cache_read(struct disk_cache *cache, struct disk_block block, uint8_t *to, size_t size);

void disk_cache_write(struct disk_cache *cache, struct disk_block block, struct bytes bytes);
