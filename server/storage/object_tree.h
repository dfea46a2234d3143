// The objects below a prefix as folders and files: a list of names, sorted, read as a tree.
//
//     run/plugins/profile/s1/a.xplane.pb    \  folder "run/plugins/profile": "s1", "s2"
//     run/plugins/profile/s1/b.xplane.pb     > folder "run/plugins/profile/s1": "a.xplane.pb", "b.xplane.pb"
//     run/plugins/profile/s2/a.xplane.pb    /
//
// Immutable once listed. A folder is there while an object is below it; its version is made of theirs. Bytewise order
// puts all that is below a folder in one row, so a folder is a range, found by halving.
//
// Of a large folder there may be its own level alone. The folders in it stand there with a "/" at their end, which no
// object has; what is in them is not known:
//
//     run/checkpoints/     \  folder "run": "checkpoints", "notes.txt", "plugins"
//     run/notes.txt         > the object "run/notes.txt"
//     run/plugins/         /
#pragma once

#include "analysis/input/storage.h"
#include "server/storage/object_page.h"

enum tree_extent {
    TREE_ALL,    // all objects whose names begin with the prefix
    TREE_LEVEL,  // those of them whose names go on without a "/", and the folders beside them
    TREE_VAST,   // none: there are very many
};

struct object_tree {
    const char *prefix;  // "run/" or ""
    enum tree_extent extent;
    struct stored_object *objects;  // by name
    size_t object_count;
    size_t odd_names;
};

// Whether the tree knows all that there is at or below "run/a" or "run/a/".
MUST_USE bool object_tree_covers(const struct object_tree *tree, const char *name);

// Puts the objects into their order; of equal names one stays.
void object_tree_sort(struct object_tree *tree);

// The object of that name, or NULL.
const struct stored_object *object_tree_find(const struct object_tree *tree, const char *name);

// What is at the name ("" is the root): an object or a folder. False: nothing.
MUST_USE bool object_tree_look(const struct object_tree *tree, const char *name, struct storage_entry *entry);

// What lies in the folder of that name, at most `most` entries. False at the arena's limit.
MUST_USE bool object_tree_list(const struct object_tree *tree, const char *name, size_t most, struct arena *arena,
                               struct folder *folder);
