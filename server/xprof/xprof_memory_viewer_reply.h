// XProf's /data?tag=memory_viewer: its JSON, or with view_memory_allocation_timeline a page of its own.
#pragma once

#include "server/http/reply.h"

bool xprof_memory_viewer_reply(struct request *request, struct reply *reply, struct error *error);
