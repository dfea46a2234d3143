#include "server/http/lobby_ranks.h"

#include <stdlib.h>

bool lobby_ranks_init(struct lobby_ranks *ranks, size_t guests_max) {
    *ranks = (struct lobby_ranks){.of_count = calloc(guests_max + 1, sizeof *ranks->of_count)};
    return ranks->of_count;
}

void lobby_ranks_free(struct lobby_ranks *ranks) {
    free(ranks->of_count);
}

static enum guest_state first_state(const struct lobby_address *address) {
    enum guest_state state = GUEST_WAITS;
    while (state < GUEST_IS_SERVED && !address->lists[state].oldest) state++;
    return state;
}

void lobby_ranks_add(struct lobby_ranks *ranks, struct lobby_address *address) {
    enum guest_state state = first_state(address);
    if (state == GUEST_IS_SERVED) return;
    struct lobby_rank *rank = address->rank = &ranks->of_count[address->guest_count][state];
    address->newer_ranked = NULL;
    address->older_ranked = rank->newest;
    *(rank->newest ? &rank->newest->newer_ranked : &rank->oldest) = address;
    rank->newest = address;
    if (address->guest_count > ranks->most) ranks->most = address->guest_count;
}

void lobby_ranks_remove(struct lobby_address *address) {
    struct lobby_rank *rank = address->rank;
    if (!rank) return;
    struct lobby_address *newer = address->newer_ranked, *older = address->older_ranked;
    *(newer ? &newer->older_ranked : &rank->newest) = older;
    *(older ? &older->newer_ranked : &rank->oldest) = newer;
    address->rank = NULL;
}

struct lobby_address *lobby_ranks_most(struct lobby_ranks *ranks) {
    for (; ranks->most; ranks->most--) {
        const struct lobby_rank *of_state = ranks->of_count[ranks->most];
        for (enum guest_state state = GUEST_WAITS; state < GUEST_IS_SERVED; state++) {
            if (of_state[state].oldest) return of_state[state].oldest;
        }
    }
    return NULL;
}
