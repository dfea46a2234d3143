// api_profile_steps: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_steps(struct request *request, struct reply *reply, struct error *error);
