#include "server/api/api.h"

#include <inttypes.h>
#include <string.h>

#include "server/api/profile_question.h"
#include "server/document/profile_events_json.h"

enum { EVENTS_MAX = 10000, EVENTS_WHEN_NOT_ASKED = 1000 };

struct events_request {
    struct profile_window window;
    int64_t offset, limit;
    int64_t row;  // -1: the window
    bool only_unexplained;
};

// --- Which events ---

static void take_unexplained(uint32_t first, uint32_t end, struct profile_event_list *list) {
    struct timeline_replay replay;
    timeline_replay_begin(&replay, list->profile, list->timeline, timeline_tells(list->timeline), first);
    while (replay.row < end) {
        uint32_t row = replay.row;
        struct timeline_difference difference = timeline_replay_step(&replay);
        if (!timeline_difference_is_none(difference)) profile_event_list_take(list, row, difference);
    }
}

// Without a filter the events before the page need not be looked at.
static void take_all(uint32_t first, uint32_t end, struct profile_event_list *list) {
    struct timeline_replay replay;
    int64_t skipped = list->offset < end - first ? list->offset : end - first;
    timeline_replay_begin(&replay, list->profile, list->timeline, timeline_tells(list->timeline),
                          first + (uint32_t)skipped);
    list->total = skipped;
    while (replay.row < end) {
        uint32_t row = replay.row;
        if (!profile_event_list_take(list, row, timeline_replay_step(&replay))) break;
    }
    list->total = (int64_t)end - first;
}

static bool rows_of(const struct memory_timeline *timeline, const struct events_request *asked, uint32_t *first,
                    uint32_t *end, struct error *error) {
    struct profile_window window = profile_window_within(asked->window, timeline);
    timeline_rows_between(timeline, window.from_ps, window.to_ps, first, end);
    if (asked->row < 0) return true;
    if (asked->row >= timeline->count)
        return error_set(error, ERROR_NOT_FOUND, "There is no event %" PRId64 ": this memory has %" PRIu32 " of them.",
                         asked->row, timeline->count);
    *first = (uint32_t)asked->row;
    *end = *first + 1;
    return true;
}

// --- The document ---

static bool write_events(struct work *work, const void *context, const struct profile_found *found,
                         struct json_writer *w, struct error *error) {
    const struct events_request *asked = context;
    struct profile_event_list list;
    uint32_t first, end;
    if (!rows_of(found->timeline, asked, &first, &end, error)) return false;
    if (!profile_event_list_make(found->profile, found->timeline, asked->offset, asked->limit, &work->arena, &list))
        return work_out_of_memory(error);
    if (asked->only_unexplained)
        take_unexplained(first, end, &list);
    else
        take_all(first, end, &list);
    json_write_int64_key(w, "total", list.total);
    json_write_int64_key(w, "offset", asked->offset);
    return profile_events_write(&list, &work->arena, w, error);
}

static bool read_filter(const struct request *request, struct events_request *asked, struct error *error) {
    const char *only = request_given(request, "only");
    asked->only_unexplained = only && strcmp(only, "unexplained") == 0;
    if (!only || asked->only_unexplained) return true;
    return error_set(error, ERROR_BAD_REQUEST, "only is \"%.100s\"; it can be \"unexplained\".", only);
}

// Not kept: as for windows.
bool api_profile_events(struct request *request, struct reply *reply, struct error *error) {
    struct events_request asked;
    return profile_window_read(request, &asked.window, error) &&
           profile_number_read(request, "offset", 0, 0, INT64_MAX, &asked.offset, error) &&
           profile_number_read(request, "limit", EVENTS_WHEN_NOT_ASKED, 0, EVENTS_MAX, &asked.limit, error) &&
           profile_number_read(request, "row", -1, -1, INT64_MAX, &asked.row, error) &&
           read_filter(request, &asked, error) && profile_answer(request, NULL, write_events, &asked, reply, error);
}
