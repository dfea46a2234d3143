#include "analysis/profile/events/free_matching.h"

#include "analysis/profile/events/memory_columns.h"

bool free_matching_find(const uint64_t *address, const uint8_t *flags, uint32_t count, uint32_t *partner,
                        uint32_t *reused) {
    struct arena arena;
    struct id_map alive_at;  // the row of the allocation
    uint32_t row = 0;
    arena_init(&arena, 0);
    *reused = 0;
    bool is_good = id_map_init(&alive_at, &arena, ADDRESSES_EXPECTED);
    for (; is_good && row < count; row++) {
        bool is_free = flags[row] & MEMORY_EVENT_IS_FREE;
        uint32_t *there = allocation_at(&alive_at, address[row]);
        if (!there) break;
        bool is_alive = *there != NOTHING_ALIVE;
        partner[row] = MEMORY_EVENT_NONE;
        if (is_free && is_alive) {
            partner[row] = *there;
            partner[*there] = row;
        }
        *reused += !is_free && is_alive;
        *there = is_free ? NOTHING_ALIVE : row;
    }
    arena_free(&arena);
    return is_good && row == count;
}
