// What is known of a bucket's names: the trees that were listed, for as long as each holds.
//
//     asked for "run/s1/a.pb"    a tree of "run/" not older than LISTINGS_HOLD_MS    answers at once
//                                 else "run/s1/" is listed anew (prefix_list.h: 1000 names a request)
//     asked for "run"            a tree of the level "run/" has its own names; of "run/s1/" it knows nothing
//
// Trees are immutable and counted. Thread-safe. Whoever wants what is being listed waits for it; nobody waits for
// another list: a slow one keeps no session from being opened. The `reading` of each call (NULL: nobody) follows what
// is listed for it, and may stop it.
#pragma once

#include "server/storage/object_service.h"
#include "server/storage/object_tree.h"

enum { LISTINGS_HOLD_MS = 5000 };

struct object_listings;

// `bucket` is borrowed. NULL: no memory.
struct object_listings *object_listings_new(const struct object_bucket *bucket);
void object_listings_free(struct object_listings *listings);  // NULL is fine

struct listed_tree;

// A tree that has at least what is in the folder of that name ("" is the bucket). NULL: *error is filled; of a folder
// that is asked for aside and has very many objects that is ERROR_TOO_BIG, soon and for some minutes without a request.
struct listed_tree *object_listings_of_folder(struct object_listings *listings, const char *name, bool is_aside,
                                              struct reading *reading, struct error *error);

// The same of whatever has that name, an object or a folder.
struct listed_tree *object_listings_of_name(struct object_listings *listings, const char *name, struct reading *reading,
                                            struct error *error);

const struct object_tree *listed_tree_of(const struct listed_tree *listed);
void listed_tree_release(struct listed_tree *listed);  // NULL is fine
