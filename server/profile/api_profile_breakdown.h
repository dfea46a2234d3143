// api_profile_breakdown: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_breakdown(struct request *request, struct reply *reply, struct error *error);
