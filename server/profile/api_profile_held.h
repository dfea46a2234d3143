// api_profile_held: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_held(struct request *request, struct reply *reply, struct error *error);
