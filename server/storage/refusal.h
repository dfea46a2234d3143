// What the statuses that say no mean, in words: the same for every kind of server.
#pragma once

#include "analysis/base/error.h"
#include "server/storage/http_message.h"
#include "server/storage/identity.h"

// Always false: *error says who asked for what, and which command would help.
bool refusal_of(struct identity *identity, const char *command, const struct http_question *question,
                const struct http_answer *answer, struct error *error);
