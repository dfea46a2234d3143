// The requests that are being answered right now: what each waits for, and whether its client still does.
//
//     http.c -- under_way_begin --> [ request, its socket, its reading ] --> under_way_tell: a row each (api_work.c)
//                                        ^ a thread looks ten times a second: who has hung up is given up,
//                                          and what was read for nobody else stops (cache_abandon)
//
// Whether a client has closed the connection or only its own side of it, and waits for the answer, cannot be told apart
// until something is sent. So whoever closed is waited for a little longer, and whoever broke it off is not. What it
// sent and nobody has read yet says nothing.
//
// Closing the connection is the whole of "stop": what the page's button does, and what a closed tab or a command that
// was interrupted does as well. Requests that are answered within a tick cost two steps under a lock. Thread-safe.
#pragma once

#include "analysis/base/arena.h"
#include "server/store/cache.h"

struct under_way;

// A request while it is answered, on the stack of whoever answers it.
struct under_way_request {
    struct under_way_request *newer, *older;
    const char *target;  // as it came, without the token
    int socket;
    struct reading *reading;
    int64_t begun_ms;
    int64_t closed_ms;  // when its client was first seen to have closed; 0: never
};

// `cache` is borrowed. NULL: no memory, or no thread.
struct under_way *under_way_new(struct cache *cache);
void under_way_free(struct under_way *under_way);  // no request may be under way; NULL is fine

enum { UNDER_WAY_GRACE_MS = 2000 };  // for whoever has closed

// With target, socket and reading set.
void under_way_begin(struct under_way *under_way, struct under_way_request *request);
void under_way_end(struct under_way *under_way, struct under_way_request *request);

// Gives up all requests, and those that are yet to come: the server stops.
void under_way_stop(struct under_way *under_way);

// Whether whoever is at the other end has closed the connection, or its side of it.
bool under_way_has_closed(int socket);

struct under_way_row {
    const char *target;
    int64_t waited_ms;
    struct reading_state reading;
};

enum { UNDER_WAY_ROWS_MAX = 64 };

// The requests but that of `mine`, the latest first; at most UNDER_WAY_ROWS_MAX. False at the arena's limit.
MUST_USE bool under_way_tell(struct under_way *under_way, const struct reading *mine, struct arena *arena,
                             struct under_way_row **rows, size_t *row_count);
