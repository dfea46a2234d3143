#include "analysis/profile/events/free_matching.h"

#include "analysis/base/id_map.h"
#include "analysis/profile/events/memory_columns.h"

enum { NOTHING_ALIVE = ID_MAP_NONE - 1, ADDRESSES_EXPECTED = 512 };  // rows are fewer

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
        uint32_t *place = id_map_place(&alive_at, (int64_t)address[row]);
        if (!place) break;
        bool is_alive = *place < NOTHING_ALIVE;
        partner[row] = MEMORY_EVENT_NONE;
        if (is_free && is_alive) {
            partner[row] = *place;
            partner[*place] = row;
        }
        *reused += !is_free && is_alive;
        *place = is_free ? NOTHING_ALIVE : row;
    }
    arena_free(&arena);
    return is_good && row == count;
}
