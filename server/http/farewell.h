// Stays on the line with clients that were answered before all of their request was there, until they have seen it.
//
//     the answer went out, the connection is about to be closed
//         --farewells_take--> a descriptor of its own: nothing more is said, and what comes is read and thrown away
//         --> closed when the client closes, is silent for FAREWELL_SILENCE_MS, or goes on for FAREWELL_MOST_MS or
//             FAREWELL_MOST_BYTES
//
// When a socket is closed with bytes in it that nobody read, the system tells the other side so at once, and what that
// has not read yet of the answer is lost to it: clients that send all before they read saw a broken connection.
//
// At most FAREWELLS_MAX stay; whoever has stayed longest makes room. One thread, which sleeps while nobody does.
// Thread-safe.
#pragma once

#include <stddef.h>

enum {
    FAREWELLS_MAX = 64,
    FAREWELL_SILENCE_MS = 5000,
    FAREWELL_MOST_MS = 120000,
    FAREWELL_MOST_BYTES = 1 << 30,
};

struct farewells;

// NULL: no memory, no descriptor, or no thread.
struct farewells *farewells_new(void);
void farewells_free(struct farewells *farewells);  // closes those who stay; NULL is fine

// The socket stays its owner's, who closes it.
void farewells_take(struct farewells *farewells, int socket);

// How many stay, or are about to.
size_t farewells_count(struct farewells *farewells);
