// The tools that agents may call: six, which only read, named and worded as the commands are.
//
//     tools/list --> mcp_tools_list: name, description, schema of the arguments     both of one table
//     tools/call --> mcp_tool_find --> mcp_tool_call: arguments looked at, then its answer
//
// A call that cannot be answered is no error of the protocol: its result says so in a sentence that the
// agent can act on.
#pragma once

#include "server/mcp/mcp_call.h"

struct mcp_tool;

// {"tools": [...]}, for json_decref.
MUST_USE json_t *mcp_tools_list(void);

// NULL: there is no such tool.
const struct mcp_tool *mcp_tool_find(const char *name);

// The result of tools/call: the answer as a document and, the same, as text; for json_decref. `call` needs its app,
// arena and reading.
MUST_USE json_t *mcp_tool_call(const struct mcp_tool *tool, const json_t *arguments, struct mcp_call *call);
