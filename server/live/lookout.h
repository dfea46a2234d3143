// When to look at a log directory again.
//
//     local disk        a change is heard of (folder_watch.h): at once, when it has been quiet for a moment
//     else local        LOOKOUT_LOCAL_MS after the look before      a network file system, very many folders
//     a bucket          LOOKOUT_BUCKET_MS after it                  each look is a list request, or several
//
// A look that takes long is not repeated soon: looks take at most a fifth of the time, or half of it while changes are
// heard of. What is being written is looked
// at more often, and where changes are heard of everything is looked at once in a while all the same. What could not be
// looked at may be there in a moment, and no change tells of that: it is tried again soon, then less and less often.
// One thread waits; any may wake it.
#pragma once

#include <stdint.h>

#include "analysis/input/catalog.h"
#include "analysis/input/folder_watch.h"
#include "analysis/input/storage.h"

enum {
    LOOKOUT_LOCAL_MS = 1000,
    LOOKOUT_BUCKET_MS = 10000,
    LOOKOUT_PENDING_MS = 500,
    LOOKOUT_FAULT_MS = 500,  // then twice that, and so on
    LOOKOUT_ALL_THE_SAME_MS = 30000,
    LOOKOUT_LONGEST_MS = 60000,
};

struct lookout {
    const struct storage *storage;
    const char *path;
    bool is_watched;
    struct folder_watch watch;
    int wakes[2];  // a pipe
    int64_t looked_ms, cost_ms;
    int64_t watch_again_ms;  // when to try it again
    size_t faults;           // what could not be looked at, at the look before; SIZE_MAX: nothing could
    int64_t fault_pause_ms;  // 0: all could
};

// Both borrowed; without a path nothing ever changes. False: the system has no descriptor left.
bool lookout_begin(struct lookout *lookout, const struct storage *storage, const char *path);
void lookout_end(struct lookout *lookout);

// "inotify", "polling" (a disk), or "listing" (a bucket): how it hears of changes.
const char *lookout_way(const struct lookout *lookout);

// Around each look: so that it misses nothing that comes later, and is known for how long it took. `seen`: what there
// is; NULL: it could not be looked at.
void lookout_looks(struct lookout *lookout);
void lookout_looked(struct lookout *lookout, const struct catalog *seen);

// When to look again though nothing is heard of (steady_clock.h).
int64_t lookout_due_ms(const struct lookout *lookout, bool has_pending);

// Returns when it is time to look again, or it was woken, or after `most_ms` (below 0: for ever).
void lookout_wait(struct lookout *lookout, bool has_pending, int64_t most_ms);

// From any thread: the wait that is under way, or the next one, ends now.
void lookout_wake(struct lookout *lookout);
