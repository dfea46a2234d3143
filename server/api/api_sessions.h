// GET /api/v1/sessions: what the log directory holds now (docs/api.md).
#pragma once

#include "server/http/reply.h"

bool api_sessions(struct request *request, struct reply *reply, struct error *error);
