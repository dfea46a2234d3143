// One look of `hbmview watch` at all there is: what is new is told, what is not whole yet is waited for.
//
//     catalog ─> sessions not known as they are ─> files not known ─> programs, memories ─> lines
//
// The oldest session first, as a log has it. A file that ends early and was written a moment ago is left for the next
// look (`is_waiting`); what is wrong otherwise is told on stderr, once, and so is what the scan could not look into.
#pragma once

#include "server/command/watch_options.h"
#include "server/command/watch_seen.h"
#include "server/storage/opened_storage.h"
#include "server/store/work.h"

struct watcher {
    const struct watch_options *options;
    struct opened_storage opened;
    struct cache *cache;  // keeps what is in use and nothing else
    struct watch_seen seen;
    struct report_sink sink;
    bool is_telling;  // else what is there is only remembered
    bool is_waiting;  // for what is still being written
    bool is_over;     // a peak is above the limit
    bool has_errors;
};

void watch_look(struct watcher *watcher, const struct catalog *catalog);

// On stderr, unless it was told before.
void watch_complain(struct watcher *watcher, const struct error *error);
