#include "server/http/http_room.h"

#include <sys/resource.h>

#include "analysis/base/memory_room.h"

enum {
    CONNECTIONS_MAX = 4096,  // or what descriptors and --memory_limit leave room for; 3/4 of them for one address
    WAITING_PART = 4,        // one in so many may wait until it may load, as many for what is urgent
    // Workers, half of each kind for one address: who load, or wait for their turn to (load_slots.h), for less than
    // LOADING_LONG_MS or for longer; who do what is urgent; and who only look at what is kept.
    LOADING_MAX = 32,
    LOADING_LONG_MAX = 96,
    HURRYING_MAX = 32,
    LOOKING_MAX = 96,
    LOADING_LONG_MS = 100,
    WORKERS_PROMPT = 4,
    WORKERS_PATIENCE_MS = 2,
};

enum {
    DESCRIPTORS_KEPT = 256,           // for files, buckets and what is new
    CONNECTION_BYTES = 36 << 10,      // what one takes that has asked, with the library's buffer for its heads
    CONNECTION_TLS_BYTES = 48 << 10,  // and with its keys
};

// As many descriptors as this user may have. How many connections that leaves room for.
static size_t connections_possible(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return CONNECTIONS_MAX / 8;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    rlim_t possible = limit.rlim_cur, kept = DESCRIPTORS_KEPT + HTTP_ROOM_SPARE;
    if (possible >= CONNECTIONS_MAX + kept) return CONNECTIONS_MAX;
    return possible > 2 * kept ? (size_t)(possible - kept) : (size_t)(possible / 4 + 1);
}

size_t http_room_share(size_t most_bytes) {
    size_t quarter = memory_room_limit() / 4;
    return quarter && quarter < most_bytes ? quarter : most_bytes;
}

size_t http_room_connections(bool is_encrypted) {
    size_t each_bytes = is_encrypted ? CONNECTION_TLS_BYTES : CONNECTION_BYTES, possible = connections_possible();
    return http_room_share(possible * each_bytes) / each_bytes;
}

struct workers_rules http_room_workers(size_t connections_max) {
    return (struct workers_rules){
        .places = {LOADING_MAX, LOADING_LONG_MAX, HURRYING_MAX, LOOKING_MAX},
        .waiting = (unsigned)connections_max / WAITING_PART + 1,
        .prompt = WORKERS_PROMPT,
        .patience_ms = WORKERS_PATIENCE_MS,
        .long_ms = LOADING_LONG_MS,
    };
}
