// Wrong tokens by address: a few are slips, more of them are guesses, which are answered 429.
//
//     wrong token --> guesses_take --> GUESSES_FREE at once, and then one each GUESS_SECONDS: 403
//                                  --> more than that: 429, and how long to wait
//
// Nothing sleeps, and each token is compared: whoever shares the address of one who guesses gets in, and so would the
// one who guesses on past a 429, with the right one. So what makes guessing hopeless is the length of a token; this
// makes it seen (429 in /metrics) and dear, for the connection is closed with each.
//
// At most GUESSES_ADDRESSES_MAX addresses are known. Another one takes the place of that which owes least, and owes as
// much: who has many addresses has no more guesses than so many. Thread-safe.
#pragma once

#include <stdint.h>

#include "server/http/client_address.h"

enum { GUESSES_FREE = 10, GUESS_SECONDS = 30, GUESSES_ADDRESSES_MAX = 1024 };

struct guesses;

struct guesses *guesses_new(void);  // NULL: no memory
void guesses_free(struct guesses *guesses);

// A wrong token at `now_ms` of a clock that only goes on. 0: it is a slip; else how many seconds to wait.
int64_t guesses_take(struct guesses *guesses, const struct client_address *address, int64_t now_ms);
