#include "analysis/input/growing_array.h"

enum { FIRST_CAPACITY = 8 };

// The capacity follows from the count: 8, then the powers of two.
static bool is_full(size_t count) {
    return count == 0 || (count >= FIRST_CAPACITY && (count & (count - 1)) == 0);
}

void *growing_array_room(struct arena *arena, void *items, size_t count, size_t item_size) {
    if (!is_full(count)) return items;
    if (count > SIZE_MAX / 2) return NULL;
    void *larger = arena_push_raw(arena, count ? 2 * count : FIRST_CAPACITY, item_size);
    if (larger && count) memcpy(larger, items, count * item_size);
    return larger;
}
