// A connection and its address, as the lobby (lobby.h) and the ranks in it (lobby_ranks.h) know them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/http/client_address.h"
#include "server/http/workers.h"

// In the order in which they make room, as far as they do.
enum guest_state { GUEST_WAITS, GUEST_UPLOADS, GUEST_LISTENS, GUEST_DOWNLOADS, GUEST_IS_SERVED, GUEST_STATE_COUNT };

struct guest_list {
    struct guest *newest, *oldest;
};

// All guests of one address; of IPv6 one network of 64 bits.
struct lobby_address {
    struct lobby_address *next;
    struct lobby_address *newer_ranked, *older_ranked;  // lobby_ranks.h
    struct lobby_rank *rank;                            // NULL: nobody of it can make room
    struct guest_list lists[GUEST_STATE_COUNT];         // who have a place
    struct client_address of;
    size_t guest_count;  // who have a place
    size_t here_count;   // and those who were dropped and have not left yet
    size_t served_count;
    struct worker_asker asker;  // its requests that workers have (workers.h, under their lock)
};

enum guest_order { GUEST_OF_ALL, GUEST_OF_ADDRESS, GUEST_ORDER_COUNT };

// A connection. It belongs to whoever lets it in; the lobby links and reads it until it leaves.
struct guest {
    struct guest *newer[GUEST_ORDER_COUNT], *older[GUEST_ORDER_COUNT];  // of its state
    struct lobby_address *address;
    enum guest_state state;
    int socket;
    bool is_dropped;   // it has no place, and is in no list
    int64_t since_ms;  // in this state
    uint64_t bytes;    // of the body that came; of the answer that is to go
};
