#include "server/live/lookout.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "analysis/base/steady_clock.h"
#include "analysis/input/local_storage.h"

enum { QUIET_MS = 60, SETTLES_MS = 400, COST_SHARE = 4, COST_SHARE_OF_CHANGES = 1 };

static void set_flags(int descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

bool lookout_begin(struct lookout *lookout, const struct storage *storage, const char *path) {
    *lookout = (struct lookout){.storage = storage, .path = path, .looked_ms = steady_ms()};
    if (pipe(lookout->wakes) != 0) return false;
    set_flags(lookout->wakes[0]);
    set_flags(lookout->wakes[1]);
    return true;
}

static bool is_local(const struct lookout *lookout) {
    return lookout->storage == local_storage() || lookout->storage == local_storage_following();
}

static void stop_watching(struct lookout *lookout) {
    if (lookout->is_watched) folder_watch_end(&lookout->watch);
    lookout->is_watched = false;
}

void lookout_end(struct lookout *lookout) {
    stop_watching(lookout);
    close(lookout->wakes[0]);
    close(lookout->wakes[1]);
}

const char *lookout_way(const struct lookout *lookout) {
    if (!is_local(lookout)) return "listing";
    return lookout->is_watched ? "inotify" : "polling";
}

static int64_t at_least(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// --- Looks ---

// What could not be watched may be by now: a folder that was not there, or had too many below it.
static void try_to_watch(struct lookout *lookout) {
    bool can_try = lookout->path && is_local(lookout) && lookout->looked_ms >= lookout->watch_again_ms;
    if (lookout->is_watched || !can_try) return;
    lookout->is_watched = folder_watch_begin(&lookout->watch, lookout->path, FOLDER_HEAR_FILES);
    lookout->watch_again_ms = lookout->looked_ms + LOOKOUT_ALL_THE_SAME_MS;
}

void lookout_looks(struct lookout *lookout) {
    lookout->looked_ms = steady_ms();
    if (lookout->is_watched && !folder_watch_hear(&lookout->watch)) stop_watching(lookout);
    try_to_watch(lookout);
}

static size_t count_faults(const struct catalog *seen) {
    size_t count = 0;
    for (size_t i = 0; i < seen->left_out_count; i++) count += seen->left_out[i].is_fault;
    return count;
}

// A folder that nobody may read stays so: it is no reason to look every moment.
static void take_faults(struct lookout *lookout, size_t faults) {
    bool is_as_before = lookout->faults && faults <= lookout->faults;
    lookout->fault_pause_ms = !faults         ? 0
                              : !is_as_before ? LOOKOUT_FAULT_MS
                                              : at_most(2 * lookout->fault_pause_ms, LOOKOUT_ALL_THE_SAME_MS);
    lookout->faults = faults;
}

void lookout_looked(struct lookout *lookout, const struct catalog *seen) {
    int64_t now = steady_ms();
    lookout->cost_ms = now - lookout->looked_ms;
    lookout->looked_ms = now;
    take_faults(lookout, seen ? count_faults(seen) : SIZE_MAX);
}

// --- Waiting ---

static int64_t watched_pause_ms(const struct lookout *lookout) {
    return lookout->fault_pause_ms ? lookout->fault_pause_ms : LOOKOUT_ALL_THE_SAME_MS;
}

int64_t lookout_due_ms(const struct lookout *lookout, bool has_pending) {
    int64_t pause = !lookout->path        ? LOOKOUT_LONGEST_MS
                    : !is_local(lookout)  ? LOOKOUT_BUCKET_MS
                    : has_pending         ? LOOKOUT_PENDING_MS
                    : lookout->is_watched ? watched_pause_ms(lookout)
                                          : LOOKOUT_LOCAL_MS;
    return lookout->looked_ms + at_most(at_least(pause, COST_SHARE * lookout->cost_ms), LOOKOUT_LONGEST_MS);
}

enum heard { HEARD_NOTHING, HEARD_CHANGE, HEARD_WAKE };

static enum heard hear(const struct lookout *lookout, int64_t until_ms) {
    struct pollfd asked[] = {{.fd = lookout->wakes[0], .events = POLLIN},
                             {.fd = lookout->is_watched ? lookout->watch.descriptor : -1, .events = POLLIN}};
    int64_t left = at_least(until_ms - steady_ms(), 0);
    if (poll(asked, 2, (int)left) <= 0) return HEARD_NOTHING;
    return asked[0].revents ? HEARD_WAKE : HEARD_CHANGE;
}

static void forget_wakes(const struct lookout *lookout) {
    char bytes[64];
    while (read(lookout->wakes[0], bytes, sizeof bytes) > 0) continue;
}

// Files come in bursts: until there is no more for a moment, but not for ever. What was heard is taken on the way.
static void settle(struct lookout *lookout) {
    int64_t earliest = lookout->looked_ms + COST_SHARE_OF_CHANGES * lookout->cost_ms;
    int64_t latest = at_least(steady_ms() + SETTLES_MS, earliest);
    for (;;) {
        if (!folder_watch_hear(&lookout->watch)) return stop_watching(lookout);
        enum heard heard = hear(lookout, at_most(latest, at_least(steady_ms() + QUIET_MS, earliest)));
        if (heard != HEARD_CHANGE || steady_ms() >= latest) return;
    }
}

void lookout_wait(struct lookout *lookout, bool has_pending, int64_t most_ms) {
    int64_t until = lookout_due_ms(lookout, has_pending);
    if (most_ms >= 0) until = at_most(until, steady_ms() + most_ms);
    if (hear(lookout, until) == HEARD_CHANGE) settle(lookout);
    forget_wakes(lookout);
}

void lookout_wake(struct lookout *lookout) {
    char byte = 0;
    ssize_t written = write(lookout->wakes[1], &byte, 1);
    (void)written;  // a full pipe wakes as well
}
