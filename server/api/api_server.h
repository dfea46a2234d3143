// GET /api/v1/server: what is served, and under which addresses (docs/api.md).
#pragma once

#include "server/http/reply.h"

bool api_server(struct request *request, struct reply *reply, struct error *error);
