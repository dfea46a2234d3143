// /data?tag=memory_profile: XProf's Memory Profile of one host.
//
// Which host: `host`, which may be left out where there is only one. A file without a host plane has an empty body.
// Where XProf breaks the connection (several hosts and none named) the answer is an error.
#pragma once

#include "server/http/reply.h"

bool xprof_memory_profile_reply(struct request *request, struct reply *reply, struct error *error);
