#include "server/api/api.h"

#include "analysis/profile/questions/held_bytes.h"
#include "server/document/profile_columns_json.h"
#include "server/document/profile_events_json.h"
#include "server/api/profile_window.h"
#include "server/http/kept_reply.h"

enum { HELD_MAX = 10000, HELD_WHEN_NOT_ASKED = 1000 };

struct held_request {
    struct profile_request profile;
    const char *op;  // NULL: of all ops
    int64_t offset, limit;
};

struct held_page {
    struct profile_event_list list;
    uint32_t *rows;
    struct timeline_difference *differences;
    int64_t total, total_bytes;
};

static bool is_held(const struct held_request *asked, const struct profile_found *found, uint32_t row) {
    const struct memory_timeline *t = found->timeline;
    if (memory_timeline_is_free(t, row) || t->partner[row] != MEMORY_EVENT_NONE) return false;
    return !asked->op || bytes_equal(found->profile->sites.sites[t->site[row]].op, bytes_of(asked->op));
}

static void take(struct held_page *page, const struct held_request *asked, uint32_t row,
                 struct timeline_difference difference) {
    int64_t bytes = allocation_site_held_bytes(&page->list.profile->sites.sites[page->list.timeline->site[row]]);
    page->total_bytes = (int64_t)((uint64_t)page->total_bytes + (uint64_t)bytes);
    bool is_before = page->total++ < asked->offset;
    if (is_before || page->list.count >= (size_t)asked->limit) return;
    page->rows[page->list.count] = row;
    page->differences[page->list.count++] = difference;
}

static bool page_make(const struct held_request *asked, const struct profile_found *found, struct arena *arena,
                      struct held_page *page) {
    *page = (struct held_page){.list = {.profile = found->profile, .timeline = found->timeline}};
    page->rows = arena_new(arena, uint32_t, (size_t)asked->limit + 1);
    page->differences = arena_new(arena, struct timeline_difference, (size_t)asked->limit + 1);
    if (!page->rows || !page->differences) return false;
    page->list.rows = page->rows;
    page->list.differences = page->differences;
    struct timeline_replay replay;
    timeline_replay_begin(&replay, found->profile, found->timeline, timeline_tells(found->timeline), 0);
    while (replay.row < found->timeline->count) {
        uint32_t row = replay.row;
        struct timeline_difference difference = timeline_replay_step(&replay);
        if (is_held(asked, found, row)) take(page, asked, row, difference);
    }
    return true;
}

static bool write_held(struct work *work, void *context, struct output *output, struct error *error) {
    const struct held_request *asked = context;
    struct profile_found found;
    struct held_page page;
    if (!profile_request_load(work, &asked->profile, &found, error)) return false;
    if (!page_make(asked, &found, &work->arena, &page)) return work_out_of_memory(error);
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    profile_found_write(&asked->profile.session, &found, &w);
    json_write_text_key(&w, "asked_op", asked->op);
    json_write_int64_key(&w, "total", page.total);
    json_write_int64_key(&w, "total_bytes", page.total_bytes);
    json_write_int64_key(&w, "offset", asked->offset);
    bool is_good = profile_events_write(&page.list, &work->arena, &w, error);
    json_close_object(&w);
    return is_good;
}

bool api_profile_held(struct request *request, struct reply *reply, struct error *error) {
    struct held_request asked = {.op = request_query(request, "op")};
    if (!profile_number_read(request, "offset", 0, 0, INT64_MAX, &asked.offset, error) ||
        !profile_number_read(request, "limit", HELD_WHEN_NOT_ASKED, 0, HELD_MAX, &asked.limit, error) ||
        !profile_request_read(request, &asked.profile, error)) {
        return false;
    }
    const char *key = profile_request_key(request, &asked.profile, "held", error);
    return key && kept_reply(request, key, REPLY_JSON, write_held, &asked, reply, error);
}
