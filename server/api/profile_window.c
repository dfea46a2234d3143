#include "server/api/profile_window.h"

#include <inttypes.h>

static bool is_there(const struct request *request, const char *name) {
    const char *value = request_query(request, name);
    return value && *value;
}

bool profile_window_read(const struct request *request, struct profile_window *window, struct error *error) {
    *window = (struct profile_window){is_there(request, "from_ps"), is_there(request, "to_ps"), 0, 0};
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

bool profile_number_read(const struct request *request, const char *name, int64_t otherwise, int64_t least,
                         int64_t most, int64_t *value, struct error *error) {
    if (!request_int64(request, name, otherwise, value, error)) return false;
    if (*value >= least && *value <= most) return true;
    return error_set(error, ERROR_BAD_REQUEST, "%s is %" PRId64 "; it can be %" PRId64 " to %" PRId64 ".", name, *value,
                     least, most);
}
