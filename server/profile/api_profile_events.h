// api_profile_events: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_events(struct request *request, struct reply *reply, struct error *error);
