// Lists what a bucket has below a prefix, in as few requests as the place allows.
//
//     run/checkpoints/...     100,000      all below "run/" is asked for, 1000 names a request, for four pages;
//     run/plugins/profile/...     300      is there still more, "run/" alone: "checkpoints/", "plugins/", "notes.txt"
//     run/notes.txt                        there is "plugins/": that stays, and each folder is asked for by itself
//
// A level is worth its while where the layout is known (plugins/ is there) and few folders lie beside it; otherwise the
// list goes on from where it was: a tree of many small folders costs a request for each thousand names, as ever. Who
// asks for what lies beside the profiles is spared the rest of a large folder: it is told to be vast.
#pragma once

#include "server/storage/object_service.h"
#include "server/storage/object_tree.h"

enum {
    LISTING_OBJECTS_MAX = 1 << 20,
    LISTING_PAGES_AT_FIRST = 4,
    LISTING_VAST = LISTING_PAGES_AT_FIRST * OBJECTS_OF_A_PAGE,
    LEVEL_FOLDERS_MAX = 64,
};

struct prefix_wish {
    const char *prefix;  // "run/"
    bool is_aside;       // it lies beside the profiles (storage.h)
};

// Fills the tree, sorted; on `arena`. `before` is what was listed of the prefix when it was last asked for (NULL:
// never): what was a level then is first asked for as one. False: *error is filled.
MUST_USE bool prefix_list(const struct object_bucket *bucket, const struct prefix_wish *wish,
                          const struct object_tree *before, struct reading *reading, struct arena *arena,
                          struct object_tree *tree, struct error *error);
