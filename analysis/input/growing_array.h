// An array on an arena whose length is not known before: it doubles, and what it leaves behind goes with the arena.
//
//     struct item *items = growing_array_room(arena, list->items, list->count, sizeof *items);
//     if (!items) return ... ERROR_TOO_BIG;
//     list->items = items;
//     items[list->count++] = ...;
#pragma once

#include "analysis/base/arena.h"

// Room for one more item after the first `count`, which must all have been added this way. NULL at the arena's limit.
void *growing_array_room(struct arena *arena, void *items, size_t count, size_t item_size);
