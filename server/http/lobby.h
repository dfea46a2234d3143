// Who is connected, and what each connection does: so that nobody who dawdles keeps others out.
//
//     accepted --> WAITS --head is whole--> UPLOADS --body is whole--> IS_SERVED --answer is there--> DOWNLOADS --.
//                    ^------------------------------- the answer is sent ---------------------------------------'
//     LISTENS instead of DOWNLOADS: the answer has no end (events)
//
//     WAITS       30 s for a whole head, however many of its bytes come; no request at all is the same
//     UPLOADS     20 s, and then at least 64 KiB for each second since it began
//     IS_SERVED   as long as it takes: whoever hangs up is given up (under_way.h)
//     DOWNLOADS   30 s, and a second for each 32 KiB of the answer
//     LISTENS     as long as it likes
//
// Who is late is dropped. When the lobby is full, the address with the most guests makes room (lobby_ranks.h), and when
// one address has its share of it, that address; so whoever comes is let in while anybody dawdles who has as many here,
// and nobody makes room for those who have more. Of the address whoever has waited longest goes; with none that waits,
// the longest of those who upload, then of those who listen (a page that is dropped asks again by itself) and then of
// those who download. Nobody who is being served is dropped; but no more than 7/8 of all who may be here are served at
// once, and of one address no more than it leaves free of these. So somebody can always make room, whatever the others
// ask.
//
// To drop is to shut the socket down: its owner sees the end of it, leaves and closes it. A thread looks twice a second
// while anybody is here. Thread-safe.
#pragma once

#include "server/http/guest.h"

struct sockaddr;
struct lobby;

enum {
    LOBBY_HEAD_SECONDS = 30,
    LOBBY_BODY_SECONDS = 20,
    LOBBY_BODY_BYTES_PER_SECOND = 64 << 10,
    LOBBY_ANSWER_SECONDS = 30,
    LOBBY_ANSWER_BYTES_PER_SECOND = 32 << 10,
};

// `share`: of how many one address may have. `on_tick` is called twice a second while anybody is here. NULL: no memory,
// or no thread.
struct lobby *lobby_new(size_t guests_max, size_t share, void (*on_tick)(void *context), void *context);
void lobby_free(struct lobby *lobby);  // everybody has left; NULL is fine

// False: no memory, or nobody can make room.
bool lobby_enter(struct lobby *lobby, struct guest *guest, int socket, const struct sockaddr *peer);
void lobby_leave(struct lobby *lobby, struct guest *guest);

// From now on it is served. False: too many are, and it is as it was.
bool lobby_serves(struct lobby *lobby, struct guest *guest);

// Another state than GUEST_IS_SERVED. `bytes`: of the answer, for GUEST_DOWNLOADS.
void lobby_now(struct lobby *lobby, struct guest *guest, enum guest_state state, uint64_t bytes);

// So much of the body came.
void lobby_came(struct lobby *lobby, struct guest *guest, size_t bytes);

// As if its state had begun so much earlier (for tests).
void lobby_backdate(struct lobby *lobby, struct guest *guest, int64_t by_ms);

struct lobby_counts {
    size_t guests, dropped_for_room, dropped_late;
};
struct lobby_counts lobby_count(struct lobby *lobby);
