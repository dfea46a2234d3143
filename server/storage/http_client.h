// Carries questions to HTTP servers and brings their answers: the only room that knows libcurl.
//
//     http_client_ask(questions[3]) ──> [ multi handle with its connections, kept for whoever asks next ]
//         0  GET range      206  ......done
//         1  GET range      503  ..wait..  again  206  ...done         429, 500, 502, 503, 504, a connection that
//         2  GET range      (cut) again  206 ............done          broke or hangs: again, later and later
//
// All questions of one call are under way at once; the call returns when each has its answer, or one has failed for
// good, or its time is over. A status that says no (403, 404, 412) is an answer: what it means is known to whoever
// asked. A redirect is followed only by a question without a secret. Secrets stand in no error. Whoever follows the
// first question (question.reading) may stop them all, and is heard within a moment. Thread-safe.
#pragma once

#include <stdatomic.h>

#include "analysis/base/error.h"
#include "server/storage/http_message.h"
#include "server/storage/trusted_certificates.h"

struct http_client;

struct http_patience {
    int connect_s;   // until there is a connection
    int silence_s;   // without a byte
    int deadline_s;  // for all of it, with every repetition; anew while much arrives
};

// What was asked so far, repetitions included.
struct http_traffic {
    uint64_t requests, body_bytes;
};

// All texts are borrowed. NULL: no memory.
struct http_client *http_client_new(const char *user_agent, struct trusted_certificates trusted,
                                    struct http_patience patience);
void http_client_free(struct http_client *client);  // nobody may be asking; NULL is fine

// Answers lie on the arena, bodies too, unless their question has a place of its own for them. False: *error says which
// question failed, and why.
MUST_USE bool http_client_ask(struct http_client *client, const struct http_question *questions, size_t count,
                              struct arena *arena, struct http_answer *answers, struct error *error);

struct http_traffic http_client_traffic(const struct http_client *client);
