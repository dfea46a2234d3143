// A client on the other end of two pipes: lines in, lines out, and the calls that are being answered.
//
//     stdin -- lines --> message --> initialize, ping, tools/list ----------> stdout, at once
//                               --> tools/call -- a thread, its reading ----> stdout, when it is done
//                                       ^ notifications/cancelled: the reading is given up, nothing is answered
//                                       ^ twice a second, to whoever gave a progressToken: how much was read
//
// A line that is no message, or too long, is answered with an error and does not end the session; the end of stdin
// does, and gives up what is still being answered. At most MCP_CALLS_MAX (mcp_calls.h) calls run at a time; the next
// ones are told to wait.
#pragma once

#include "server/app.h"

// Serves the client of these descriptors until the first ends. False: there was no memory, or nobody reads any more.
MUST_USE bool mcp_session_run(const struct app *app, int in, int out);
