// api_memory_view: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_memory_view(struct request *request, struct reply *reply, struct error *error);
