// Asking a server for credentials: one question, whose answer must be good.
#pragma once

#include "server/storage/identity.h"

// The address "http://host/path" as a question's. False: it is no address, or there is no memory.
MUST_USE bool identity_address(const char *url, struct arena *arena, struct http_question *question);

// ERROR_UNREADABLE with the status when it is not 200; what the server said stands in no error, but `advice` ("" is
// none) where it says that what it was given is no good (400, 401).
MUST_USE bool identity_ask(const struct identity *identity, struct http_question *question, const char *advice,
                           struct arena *arena, struct bytes *body, struct error *error);
