// XProf's small routes, answered as XProf answers them: which runs, tools, hosts and modules there are.
//
// A run that does not exist has no hosts, tools and modules: XProf answers an empty list, not an error. session_path
// and run_path work inside the log directory only (see place.h).
#pragma once

#include "server/http/reply.h"

bool xprof_runs(struct request *request, struct reply *reply, struct error *error);
bool xprof_run_tools(struct request *request, struct reply *reply, struct error *error);
bool xprof_hosts(struct request *request, struct reply *reply, struct error *error);
bool xprof_module_list(struct request *request, struct reply *reply, struct error *error);
bool xprof_config(struct request *request, struct reply *reply, struct error *error);
bool xprof_version(struct request *request, struct reply *reply, struct error *error);
