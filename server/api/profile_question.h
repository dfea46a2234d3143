// A question about one memory of the Memory Profile, as every endpoint below /memory_profile answers it: which memory
// is meant, its profile, and a document that begins with both.
#pragma once

#include "server/http/profile_request.h"
#include "server/http/reply.h"

struct json_writer;

// Writes the rest of the document as keys of the open object. `asked` is what the handler read.
typedef bool profile_answer_write(struct work *work, const void *asked, const struct profile_found *found,
                                  struct json_writer *w, struct error *error);

// Answers with {"session", "host", "memory_id", ...}. The reply is kept under `endpoint`, which must name it; NULL: it
// is made anew for each request.
MUST_USE bool profile_answer(struct request *request, const char *endpoint, profile_answer_write *write,
                             const void *asked, struct reply *reply, struct error *error);

// A number from `least` to `most`; ERROR_BAD_REQUEST otherwise.
MUST_USE bool profile_number_read(const struct request *request, const char *name, int64_t otherwise, int64_t least,
                                  int64_t most, int64_t *value, struct error *error);
