// An answer that is sent, as unsent.h lists it and unsent_readers.h looks at it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/bytes.h"
#include "server/http/client_address.h"

struct unsent;

// Start with {0}.
struct unsent_answer {
    struct unsent *unsent;  // NULL: it never began
    struct unsent_answer *newer, *older;
    struct bytes body;
    size_t own_bytes;  // beside the body
    bool is_listed;    // it has not made room
    bool is_counted;   // the body, which others may be sent as well
    bool is_modest;    // its address has no more than its share, when somebody was to make room
    int socket;        // open until unsent_end
    struct client_address client;
    uint64_t taken_earlier;  // by the socket's other side, before this answer
    uint64_t taken;          // of this answer, when somebody was to make room
    int64_t begun_ms;
};
