// What a program holds in HBM, by category: read once, then kept in the cache, while the program itself is let go.
#pragma once

#include "analysis/memory/memory_totals.h"
#include "server/store/module_store.h"

// Of memory space 0. The total is OOM_ABSENT (-1) where the module has no buffers. False where it cannot be read.
MUST_USE bool explain_totals_of(struct work *work, const struct found_module *found, struct memory_totals *totals,
                                struct error *error);
