// Which memory space of which module a request asks for, in the words of either API.
//
//     /api/v1     session, module, host (optional), memory_space (a number, 0 when absent)
//     XProf       run or session_path, module_name or program_id, host (must exist, picks nothing), memory_space
//
// What is filled lives as long as the request.
#pragma once

#include "server/store/module_store.h"
#include "server/http/request.h"

struct module_request {
    struct session session;
    const char *module;  // "jit_f(1)"
    const char *host;    // as asked for; NULL: any
    struct found_module found;
    int64_t space;
};

// The session that a request of XProf's means: run, session_path, run_path.
struct session_place session_place_of_xprof(const struct request *request);

MUST_USE bool module_request_of_api(struct request *request, struct module_request *asked, struct error *error);

// What a request compares it with: session_b, module_b, host_b, each as of `a` when absent (the host only where the
// session is the same), in the same memory space.
MUST_USE bool module_request_of_api_b(struct request *request, const struct module_request *a,
                                      struct module_request *asked, struct error *error);

// As XProf reads its arguments: a memory_space that is no number means 0; program_id is looked for inside the names.
MUST_USE bool module_request_of_xprof(struct request *request, struct module_request *asked, struct error *error);

// The key of a kept reply: endpoint, memory space, the version of the module, and how it was named (session, host and
// module stand in the reply). NULL: *error is filled.
MUST_USE const char *module_request_key(struct request *request, const struct module_request *asked,
                                        const char *endpoint, struct error *error);
