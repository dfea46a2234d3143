// XProf's /data: one route for every tool, told apart by `tag`. Here only the memory tools answer.
#pragma once

#include "server/http/reply.h"

bool xprof_data(struct request *request, struct reply *reply, struct error *error);
