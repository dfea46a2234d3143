#include "analysis/base/growing_array.h"

enum { FIRST_CAPACITY = 8 };

// 8, then the powers of two.
static bool is_full(size_t count) {
    return count == 0 || (count >= FIRST_CAPACITY && (count & (count - 1)) == 0);
}

bool growing_array_has_room(struct arena *arena, void *items, size_t count, size_t item_size) {
    if (!is_full(count)) return true;
    if (count > SIZE_MAX / 2) return false;
    void *old, *larger = arena_push_raw(arena, count ? 2 * count : FIRST_CAPACITY, item_size);
    if (!larger) return false;
    memcpy(&old, items, sizeof old);
    if (count) memcpy(larger, old, count * item_size);
    memcpy(items, &larger, sizeof larger);
    return true;
}
