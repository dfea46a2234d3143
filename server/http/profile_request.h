// Which memory of which host a request for the Memory Profile asks for: session, host, memory_id.
//
// Two steps, so that a kept reply is found without loading anything: profile_request_read names the file (when the
// host is given) and the key; profile_request_load loads the profile and settles what was left open.
//
// What is filled lives as long as the request.
#pragma once

#include "server/http/request.h"
#include "server/store/profile_store.h"
#include "server/store/store.h"

struct profile_request {
    struct session session;
    const char *host;       // as asked; NULL: the first that has memory events
    const char *memory_id;  // as asked; NULL: the one with the highest peak
};

struct profile_found {
    const struct input_file *file;
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
};

// Reads session, host and memory_id, and looks at the files that may be meant. ERROR_NOT_FOUND for a host that the
// session does not have.
MUST_USE bool profile_request_read(struct request *request, struct profile_request *asked, struct error *error);

// The same for what is told of all hosts, whichever is named.
MUST_USE bool profile_request_read_all(struct request *request, struct profile_request *asked, struct error *error);

// The key of a kept reply: endpoint, every argument of the query that is there, the versions of the session's files
// that may be meant. NULL: *error is filled.
MUST_USE const char *profile_request_key(struct request *request, const struct profile_request *asked,
                                         const char *endpoint, struct error *error);

// Loads the profile and finds the memory. ERROR_NOT_FOUND names the memory ids there are, or says why there is none.
MUST_USE bool profile_request_load(struct work *work, const struct profile_request *asked, struct profile_found *found,
                                   struct error *error);
