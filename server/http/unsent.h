// Answers while they are sent: the memory that waits for their readers has one budget, as bodies that come have
// (bodies.h).
//
//     unsent_begin --> listed; a body that several are sent (the cache's, a file of the page) counts once
//                  --> beyond the budget: somebody makes room (unsent_readers.h): its socket is shut down, its owner
//                      sees the end of it and calls unsent_end
//
// unsent_keep_to_budget is for those who are too young for that when the next one comes. A body that is alone stays,
// however large; so do small ones, which the system's own buffers take. How much was taken the system tells (TCP_INFO):
// what the other side has confirmed. Of a socket in a file it cannot, and the oldest makes room. Thread-safe.
#pragma once

#include "server/http/unsent_answer.h"

enum { UNSENT_MAX_BYTES = 128 << 20, UNSENT_SMALL_BYTES = 16 << 10 };

struct unsent;

// NULL: no memory.
struct unsent *unsent_new(size_t max_bytes);
void unsent_free(struct unsent *unsent);  // no answer is left; NULL is fine

void unsent_begin(struct unsent *unsent, struct unsent_answer *answer, int socket, const struct client_address *client,
                  struct bytes body, size_t own_bytes);
void unsent_end(struct unsent_answer *answer);  // of one that never began too

void unsent_keep_to_budget(struct unsent *unsent);
size_t unsent_bytes(struct unsent *unsent);
