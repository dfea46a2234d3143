// api_profile_timeline: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_timeline(struct request *request, struct reply *reply, struct error *error);
