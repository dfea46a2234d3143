// Which handler answers which path. Three families, which differ in how errors look:
//
//     /api/v1/...                                our API: JSON errors
//     /data/plugin/profile/NAME, also /NAME      XProf's routes: text errors
//     anything else                              the page: an asset, or index.html for paths without a dot (deep links)
//
// A trailing slash does not matter. A row says also which methods its address takes and how large a body; a request
// that is not let in (gate.h) or of another method is answered before a handler runs.
#pragma once

#include "server/http/route.h"

// The route of a decoded path. Never NULL.
const struct route *route_of(const struct request *request);

// Whether the request may use the server (gate.h). False: the reply is complete already.
bool routes_let_in(struct request *request, struct reply *reply);

// How many bytes of a body are read before the request is refused.
size_t routes_body_limit(const struct request *request);

// Whether somebody waits for it at a terminal, with a job that failed: it has workers of its own (workers.h).
bool routes_is_urgent(const struct request *request);

// Answers the request: access, method, handler, errors, entity tag, compression. There is no answer when its work has
// missed something (work.h).
void routes_answer(struct request *request, struct reply *reply);

// The same for what needs no file and next to no work: the embedded page, /healthz, and what is known to be as it was
// (known_answers.h). False: it is for routes_answer.
bool routes_answer_at_once(struct request *request, struct reply *reply);
