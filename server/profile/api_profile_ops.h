// api_profile_ops: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_ops(struct request *request, struct reply *reply, struct error *error);
