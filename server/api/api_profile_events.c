#include "server/api/api.h"

#include <inttypes.h>
#include <string.h>

#include "server/document/profile_columns_json.h"
#include "server/document/profile_events_json.h"
#include "server/api/profile_window.h"

enum { EVENTS_MAX = 10000, EVENTS_WHEN_NOT_ASKED = 1000 };

struct events_request {
    struct profile_request profile;
    struct profile_window window;
    int64_t offset, limit;
    int64_t row;  // -1: the window
    bool only_unexplained;
};

struct page {
    struct profile_event_list list;
    uint32_t *rows;
    struct timeline_difference *differences;
    int64_t total;
};

// --- Which events ---

static bool take(struct page *page, const struct events_request *asked, uint32_t row,
                 struct timeline_difference difference) {
    bool is_before = page->total++ < asked->offset;
    if (is_before || page->list.count >= (size_t)asked->limit) return false;
    page->rows[page->list.count] = row;
    page->differences[page->list.count++] = difference;
    return true;
}

static void take_unexplained(struct timeline_replay *replay, uint32_t end, const struct events_request *asked,
                             struct page *page) {
    while (replay->row < end) {
        uint32_t row = replay->row;
        struct timeline_difference difference = timeline_replay_step(replay);
        if (!timeline_difference_is_none(difference)) take(page, asked, row, difference);
    }
}

// Without a filter the events before the page need not be looked at.
static void take_all(const struct profile_found *found, uint32_t first, uint32_t end,
                     const struct events_request *asked, struct page *page) {
    struct timeline_replay replay;
    int64_t skipped = asked->offset < end - first ? asked->offset : end - first;
    timeline_replay_begin(&replay, found->profile, found->timeline, timeline_tells(found->timeline),
                          first + (uint32_t)skipped);
    page->total = skipped;
    while (replay.row < end) {
        uint32_t row = replay.row;
        if (!take(page, asked, row, timeline_replay_step(&replay))) break;
    }
    page->total = (int64_t)end - first;
}

static bool rows_of(const struct profile_found *found, const struct events_request *asked, uint32_t *first,
                    uint32_t *end, struct error *error) {
    struct profile_window window = profile_window_within(asked->window, found->timeline);
    timeline_rows_between(found->timeline, window.from_ps, window.to_ps, first, end);
    if (asked->row < 0) return true;
    if (asked->row >= found->timeline->count)
        return error_set(error, ERROR_NOT_FOUND, "There is no event %" PRId64 ": this memory has %" PRIu32 " of them.",
                         asked->row, found->timeline->count);
    *first = (uint32_t)asked->row;
    *end = *first + 1;
    return true;
}

static bool page_make(const struct profile_found *found, const struct events_request *asked, struct arena *arena,
                      struct page *page, struct error *error) {
    uint32_t first, end;
    *page = (struct page){.list = {.profile = found->profile, .timeline = found->timeline}};
    if (!rows_of(found, asked, &first, &end, error)) return false;
    page->rows = arena_new(arena, uint32_t, (size_t)asked->limit + 1);
    page->differences = arena_new(arena, struct timeline_difference, (size_t)asked->limit + 1);
    if (!page->rows || !page->differences) return work_out_of_memory(error);
    page->list.rows = page->rows;
    page->list.differences = page->differences;
    if (asked->only_unexplained) {
        struct timeline_replay replay;
        timeline_replay_begin(&replay, found->profile, found->timeline, timeline_tells(found->timeline), first);
        take_unexplained(&replay, end, asked, page);
    } else {
        take_all(found, first, end, asked, page);
    }
    return true;
}

// --- The document ---

static bool write_events(struct work *work, const struct events_request *asked, struct output *output,
                         struct error *error) {
    struct profile_found found;
    struct page page;
    if (!profile_request_load(work, &asked->profile, &found, error)) return false;
    if (!page_make(&found, asked, &work->arena, &page, error)) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    profile_found_write(&asked->profile.session, &found, &w);
    json_write_int64_key(&w, "total", page.total);
    json_write_int64_key(&w, "offset", asked->offset);
    bool is_good = profile_events_write(&page.list, &work->arena, &w, error);
    json_close_object(&w);
    return is_good;
}

static bool read_filter(const struct request *request, struct events_request *asked, struct error *error) {
    const char *only = request_query(request, "only");
    asked->only_unexplained = only && strcmp(only, "unexplained") == 0;
    if (!only || !*only || asked->only_unexplained) return true;
    return error_set(error, ERROR_BAD_REQUEST, "only is \"%.100s\"; it can be \"unexplained\".", only);
}

// Not kept: as for windows.
bool api_profile_events(struct request *request, struct reply *reply, struct error *error) {
    struct events_request asked;
    if (!profile_request_read(request, &asked.profile, error)) return false;
    if (!profile_window_read(request, &asked.window, error)) return false;
    if (!profile_number_read(request, "offset", 0, 0, INT64_MAX, &asked.offset, error)) return false;
    if (!profile_number_read(request, "limit", EVENTS_WHEN_NOT_ASKED, 0, EVENTS_MAX, &asked.limit, error)) return false;
    if (!profile_number_read(request, "row", -1, -1, INT64_MAX, &asked.row, error)) return false;
    if (!read_filter(request, &asked, error)) return false;
    struct output *output = reply_output(request, error);
    return output && write_events(&request->work, &asked, output, error) &&
           reply_written(reply, REPLY_JSON, output, error);
}
