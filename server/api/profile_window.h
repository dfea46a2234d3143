// The window of time that a request asks for: from_ps and to_ps, each optional.
#pragma once

#include "analysis/profile/questions/timeline_window.h"
#include "server/http/request.h"

struct profile_window {
    bool has_from, has_to;
    int64_t from_ps, to_ps;
};

// ERROR_BAD_REQUEST for what is no number, and when the window ends before it begins.
MUST_USE bool profile_window_read(const struct request *request, struct profile_window *window, struct error *error);

// The same with what was left open filled in: from the first event, to past the last.
struct profile_window profile_window_within(struct profile_window asked, const struct memory_timeline *timeline);
