// api_profile_modules: see docs/api.md.
#pragma once

#include "server/http/reply.h"

bool api_profile_modules(struct request *request, struct reply *reply, struct error *error);
