#include "server/api/profile_window.h"

#include <inttypes.h>

bool profile_window_read(const struct request *request, struct profile_window *window, struct error *error) {
    *window = (struct profile_window){request_given(request, "from_ps"), request_given(request, "to_ps"), 0, 0};
    if (!request_int64(request, "from_ps", 0, &window->from_ps, error)) return false;
    if (!request_int64(request, "to_ps", 0, &window->to_ps, error)) return false;
    if (!window->has_from || !window->has_to || window->from_ps <= window->to_ps) return true;
    return error_set(error, ERROR_BAD_REQUEST,
                     "The window ends before it begins: from_ps is %" PRId64 ", to_ps is %" PRId64 ".", window->from_ps,
                     window->to_ps);
}

struct profile_window profile_window_within(struct profile_window asked, const struct memory_timeline *timeline) {
    struct profile_window window = asked;
    int64_t first, end;
    timeline_whole(timeline, &first, &end);
    if (!asked.has_from) window.from_ps = asked.has_to && asked.to_ps < first ? asked.to_ps : first;
    if (!asked.has_to) window.to_ps = asked.has_from && asked.from_ps > end ? asked.from_ps : end;
    return window;
}
