// Which address makes room in the lobby: the one with the most guests, of those that have a guest who can.
//
//     by how many guests: 1  2  3 ... most --> by the state that makes room first --> addresses, the quietest first
//
// Of several that have as many, it is the one with a guest in the earliest state, and of these the one whose guests did
// nothing for longest. Each step costs the same however many there are; finding the most may pass the counts that no
// address has any more. The lobby's lock is held.
#pragma once

#include "server/http/guest.h"

struct lobby_rank {
    struct lobby_address *newest, *oldest;
};

struct lobby_ranks {
    struct lobby_rank (*of_count)[GUEST_IS_SERVED];  // by state
    size_t most;                                     // no address has more
};

// False: no memory.
bool lobby_ranks_init(struct lobby_ranks *ranks, size_t guests_max);
void lobby_ranks_free(struct lobby_ranks *ranks);

// Whoever changes the guests of an address removes it before, and adds it after.
void lobby_ranks_add(struct lobby_ranks *ranks, struct lobby_address *address);
void lobby_ranks_remove(struct lobby_address *address);

// NULL: nobody can make room.
struct lobby_address *lobby_ranks_most(struct lobby_ranks *ranks);
