// XProf's routes, answered as XProf answers them, field for field. server/routes.c knows their paths.
//
// A run that does not exist has no hosts, tools and modules: XProf answers an empty list, not an error. session_path
// and run_path work inside the log directory only (see place.h). /data is one route for every tool, told apart by
// `tag`; here only the memory tools answer.
#pragma once

#include "server/http/reply.h"

request_handler xprof_runs;
request_handler xprof_run_tools;
request_handler xprof_hosts;
request_handler xprof_module_list;
request_handler xprof_config;
request_handler xprof_version;
request_handler xprof_data;

// tag=memory_viewer: XProf's JSON, or with view_memory_allocation_timeline a page of its own.
request_handler xprof_memory_viewer_reply;

// tag=memory_profile, of one host: `host`, which may be left out where there is only one. A file without a host plane
// has an empty body. Where XProf breaks the connection (several hosts and none named) the answer is an error.
request_handler xprof_memory_profile_reply;
