// The first few different names of what there is, for whoever asked for what is not: "vm-0, vm-1, vm-2, ...".
#pragma once

#include "analysis/base/arena.h"

enum { KNOWN_NAMES_FEW = 3, KNOWN_NAMES_MAX = 8 };

struct known_names {
    const char *texts[KNOWN_NAMES_MAX];  // printable
    size_t different;                    // at most one more than are kept
    size_t count;                        // of all that were added
};

void known_names_add(struct known_names *names, struct bytes name, struct arena *arena);

// The first `most` of them; "none" where there is none.
const char *known_names_text(const struct known_names *names, size_t most, struct arena *arena);
