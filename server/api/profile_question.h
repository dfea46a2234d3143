// A question about one memory of the Memory Profile, as every endpoint below /memory_profile answers it: which memory
// is meant, its profile, and a document that begins with both.
#pragma once

#include "analysis/profile/questions/timeline_window.h"
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

// The window of time that a request asks for: from_ps and to_ps, each optional.
struct profile_window {
    bool has_from, has_to;
    int64_t from_ps, to_ps;
};

// ERROR_BAD_REQUEST for what is no number, and when the window ends before it begins.
MUST_USE bool profile_window_read(const struct request *request, struct profile_window *window, struct error *error);

// The same with what was left open filled in: from the first event, to past the last.
struct profile_window profile_window_within(struct profile_window asked, const struct memory_timeline *timeline);
