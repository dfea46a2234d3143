// Which handler answers which path of /api/v1: the table that the server and the commands share.
#pragma once

#include "server/http/route.h"

extern const struct routes api_routes;

// For a path of the API that there is not.
bool api_unknown(struct request *request, struct reply *reply, struct error *error);

// Answers what the program asks of itself: no access control, no compression. An error is the API's JSON.
void api_answer(struct request *request, struct reply *reply);
