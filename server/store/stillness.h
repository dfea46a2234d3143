// Whether the log directory has stood still since a moment: then what was found there is still so, without a look.
//
//     mark --> look, read, answer --> kept with the mark --> holds? the same answer again, without a look
//                                                             |
//               the system told of a change, or STILLNESS_MS have passed, or it cannot tell: no
//
// The system tells of a write, a new name or a change of permissions before the call that does it returns
// (folder_watch.h), so nobody gets an old answer after one. What it does not tell of - writes by way of a memory map or
// of a name elsewhere, of links' targets, of what is mounted below - is seen STILLNESS_MS later. On network file
// systems, in buckets and in folders that cannot be watched nothing ever holds.
//
// To watch costs a walk over all folders, by a thread of its own: nobody waits for it. It watches only while the same
// is asked again and again. Thread-safe; nothing here waits for a file.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/input/storage.h"

enum {
    STILLNESS_MS = 200,
    STILLNESS_OFTEN = 8,  // asked so often within a second: worth a watch
};

struct stillness;

struct stillness_mark {
    uint64_t generation;  // 0: nothing can be told
    int64_t taken_ms;
};

// Both borrowed; without a path nothing ever changes. NULL: no memory.
struct stillness *stillness_new(const struct storage *storage, const char *path);
void stillness_free(struct stillness *stillness);  // NULL is fine

// Before a look.
struct stillness_mark stillness_mark(struct stillness *stillness);

// Whether another look would find the same.
bool stillness_holds(struct stillness *stillness, const struct stillness_mark *mark);

// Somebody looked who could have done without: often enough, and it is watched.
void stillness_is_missed(struct stillness *stillness);
