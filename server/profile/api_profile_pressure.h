// api_profile_pressure: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_pressure(struct request *request, struct reply *reply, struct error *error);
