// What a program holds in HBM, by category: read once, then kept in the cache, while the program itself is let go.
#pragma once

#include "analysis/memory/memory_totals.h"
#include "server/store/module_store.h"

// Of memory space 0. The total is OOM_ABSENT (-1) where the module cannot be read, or has no buffers.
struct memory_totals explain_totals_of(struct work *work, const struct found_module *found);
