// What the statuses that say no mean, in words: the same for every kind of server.
#pragma once

#include "analysis/base/error.h"
#include "server/storage/http_message.h"
#include "server/storage/identity.h"

// Commands of the service's own tools.
struct refusal_advice {
    const char *who_am_i;  // tells whose credentials are in use
    const char *log_in;    // for who has none
};

// Always false: *error says who asked for what, and which command would help. `identity` and `advice` are NULL of a
// service that takes no credentials; it tells itself what 401 and 403 mean.
bool refusal_of(struct identity *identity, const struct refusal_advice *advice, const struct http_question *question,
                const struct http_answer *answer, struct error *error);
