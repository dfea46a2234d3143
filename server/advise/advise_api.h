// GET /api/v1/advise: what to change so that a program needs less memory. See docs/api.md ("Advise").
#pragma once

#include "server/http/reply.h"
#include "server/http/request.h"

bool advise_api(struct request *request, struct reply *reply, struct error *error);
