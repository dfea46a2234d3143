// api_profile_overview: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_overview(struct request *request, struct reply *reply, struct error *error);
