// An array on an arena whose length is not known before: it doubles, and what it leaves behind goes with the arena.
//
//     if (!growing_array_add(arena, list->items, list->count, item)) return ... ERROR_TOO_BIG;
//
// The capacity follows from the count, so an array that was begun so goes on so, from zeroed `items` and `count`.
#pragma once

#include "analysis/base/arena.h"

// Room for one more item after the first `count`; `items` is the address of the pointer to them. False at the arena's
// limit: the array stays as it is.
bool growing_array_has_room(struct arena *arena, void *items, size_t count, size_t item_size);

// Adds an item and counts it. False at the arena's limit. `items` and `count` are evaluated more than once.
#define growing_array_add(arena, items, count, ...)                                                                    \
    (growing_array_has_room((arena), (void *)&(items), (count), sizeof *(items)) &&                                    \
     ((items)[(count)++] = (__VA_ARGS__), true))
