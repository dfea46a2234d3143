// Which session and program a call means, when it does not say so or says it as a person would.
//
//     no session          the newest that has what the tool is about
//     "jit_train_step"    the program of that name, whatever number its process gave it; of several the highest peak
//     no module           the program with the highest peak
//
// What was chosen is said in a caveat, and stands in the answer.
#pragma once

#include "server/mcp/mcp_call.h"

struct mcp_place {
    const char *session, *module;  // on the call's arena
    const char *host;              // as asked; NULL
};

// `tool` is one of /api/v1/session's, what the session must have. `asked` NULL: the newest.
MUST_USE bool mcp_find_session(struct mcp_call *call, const char *asked, const char *tool, const char **session,
                               struct error *error);

// `asked` NULL: the program with the highest peak.
MUST_USE bool mcp_find_module(struct mcp_call *call, const char *session, const char *asked, const char **module,
                              struct error *error);

// Of the arguments "session", "module" and "host".
MUST_USE bool mcp_find_place(struct mcp_call *call, struct mcp_place *place, struct error *error);

// The peak of a row of /api/v1/modules in HBM, else in its first memory space; -1: it is not known.
json_int_t mcp_module_peak(const json_t *row);
