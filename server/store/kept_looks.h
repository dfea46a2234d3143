// What looks into files found (storage.h), for as long as the server runs: by version, which names its file as well.
//
//     version ──hash──> row of 4:  version found | ...     a fifth takes the place of the oldest
//          └─ not there ──> the look that somebody is at just now: its answer ──> else a look of one's own
//
// So of all who ask for a session at once, one looks into each of its files, and nobody does again until the file
// changes. What does not last is told to those who waited for it and to nobody else. A fixed table, of which only what
// is used is in memory. Thread-safe.
#pragma once

#include "analysis/input/storage.h"

// NULL: no memory.
struct kept_looks *kept_looks_new(void);
void kept_looks_free(struct kept_looks *kept);  // NULL is fine
