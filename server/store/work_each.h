// One piece of work that is many of a kind, such as the files of a session: shared out to threads where they take a
// moment (analysis/base/parallel.h).
//
//     work ──> item 0, item 3, ...         on this thread, holding what they hold in `work` itself
//          ──> crew ──> work ──> item 1, ...    a work for each thread, which end with the first one
//
// So whatever the items found stays until `work` ends.
#pragma once

#include "server/store/work.h"

// Calls run(mine, context, item) for each item of `count`, several at a time. False: no memory, and none was called.
MUST_USE bool work_each(struct work *work, void (*run)(struct work *mine, void *context, size_t item), void *context,
                        size_t count);
