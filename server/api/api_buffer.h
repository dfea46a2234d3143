// api_buffer: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_buffer(struct request *request, struct reply *reply, struct error *error);
