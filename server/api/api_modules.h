// GET /api/v1/modules: the programs of a session, over all its hosts (docs/api.md).
#pragma once

#include "server/http/reply.h"

bool api_modules(struct request *request, struct reply *reply, struct error *error);
