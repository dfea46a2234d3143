// What the tools answer: short documents of the API's own figures. mcp_tools.c knows their names and arguments.
//
// A list has at most `top` rows, what is not there is counted beside it, and a figure that may be taken for another is
// told with a caveat. Bytes are exact; nothing is measured or rounded here.
#pragma once

#include "server/mcp/mcp_call.h"

// A document for json_decref. NULL: *error is filled, and its sentence is for the agent.
typedef json_t *mcp_answer(struct mcp_call *call, struct error *error);

mcp_answer mcp_answer_sessions;
mcp_answer mcp_answer_report;
mcp_answer mcp_answer_who_holds;
mcp_answer mcp_answer_explain;
mcp_answer mcp_answer_advise;
mcp_answer mcp_answer_diff;

// The report of memory over time, and of device memory profiles (mcp_answer_report of other tools).
mcp_answer mcp_answer_memory_profile;
mcp_answer mcp_answer_device_memory;
