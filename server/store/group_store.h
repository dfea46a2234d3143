// Who holds the memory of a program at any step, kept in the cache (file_store.h): the cursor asks again and again, and
// to read the whole program for each step took seconds where it has very many buffers.
//
//     "group steps <space> <by> <frameworks> <the module's key>"  ──> group_steps.h, without the module
//
// The module is loaded where the steps are made, and may go afterwards.
#pragma once

#include "analysis/groups/group_steps.h"
#include "server/store/module_store.h"

struct group_question {
    int64_t space;
    enum memory_group_by by;
    const char *frameworks;
};

// Valid until the work ends. NULL: *error is filled.
MUST_USE const struct group_steps *group_store_steps(struct work *work, const struct found_module *found,
                                                     const struct group_question *question, struct error *error);
