// Lets requests in, or answers them at the door.
//
//     wrong Host header          403
//     no token where one is due  403; a page may ask once more (ACCESS_RETRY)
//     a wrong one                the same; 429 after some of one address (guesses.h)
//     a POST of another site    403 (same_site.h)
//     the shared link            a cookie; a page is sent on to its address without the token
//
// access.h judges; here is what follows from it for each family of replies.
#pragma once

#include "server/http/reply.h"

// False: the reply is complete already.
bool gate_let_in(struct request *request, struct reply *reply, enum reply_family family);

// Whether the request may use the server at all, before its body is read.
bool gate_is_open(const struct request *request);
