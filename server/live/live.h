// What is new in the log directory, told to whoever listens, while it happens.
//
//     lookout ──> thread of the server: looks, compares ──> event_ring ──> listener: an open page
//                                                                     └──> listener: a script
//
// One thread for all listeners, and it sleeps while nobody listens. Listeners never wait: they hear
// what there is, and are told when to ask again (live_on_news). A slow one delays nobody, and one that fell behind the
// ring is told to reload the list. At most LIVE_LISTENERS_MAX, of whom one client has no more than it leaves free: half
// when it is alone. Thread-safe.
#pragma once

#include "analysis/base/error.h"
#include "server/store/store.h"

enum {
    LIVE_LISTENERS_MAX = 128,
    LIVE_HEARTBEAT_SECONDS = 15,  // a comment is sent when there is nothing else: proxies close what is silent
    LIVE_HEARTBEAT_MAX_SECONDS = 300,
};

struct live;
struct live_listener;

// `store` is borrowed. NULL: no memory, threads or descriptors.
struct live *live_new(struct store *store);

// Every stream ends, and nobody may begin to listen; then, when all listeners have left, it can be freed. NULL is fine.
void live_stop(struct live *live);
void live_free(struct live *live);

// `client`: a number that tells clients apart. `last_id` is that of the last event that was seen (NULL: none). NULL:
// *error says that too many listen, or that there is no memory.
MUST_USE struct live_listener *live_listen(struct live *live, int64_t client, const char *last_id, unsigned heartbeat_s,
                                           struct error *error);
void live_leave(struct live_listener *listener);

// The next bytes of the stream. 0: there is nothing yet; below 0: it is over. Asked at least once a second it gives its
// sign of life in time.
int64_t live_hear(struct live_listener *listener, char *to, size_t most);

// Calls `tell` whenever listeners may hear more than before, or hear that it is over; it must not call back. One for
// all; NULL: nobody.
void live_on_news(struct live *live, void (*tell)(void *context), void *context);
