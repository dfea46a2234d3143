#include "server/api/api.h"

#include "analysis/profile/questions/held_bytes.h"
#include "server/api/profile_question.h"
#include "server/document/profile_events_json.h"

enum { HELD_MAX = 10000, HELD_WHEN_NOT_ASKED = 1000 };

struct held_request {
    const char *op;  // NULL: of all ops
    int64_t offset, limit;
};

static bool is_held(const struct held_request *asked, const struct profile_found *found, uint32_t row) {
    const struct memory_timeline *t = found->timeline;
    if (memory_timeline_is_free(t, row) || t->partner[row] != MEMORY_EVENT_NONE) return false;
    return !asked->op || bytes_equal(found->profile->sites.sites[t->site[row]].op, bytes_of(asked->op));
}

// Returns what all of them hold.
static int64_t take_held(const struct held_request *asked, const struct profile_found *found,
                         struct profile_event_list *list) {
    const struct memory_timeline *t = found->timeline;
    uint64_t total_bytes = 0;
    struct timeline_replay replay;
    timeline_replay_begin(&replay, found->profile, t, timeline_tells(t), 0);
    while (replay.row < t->count) {
        uint32_t row = replay.row;
        struct timeline_difference difference = timeline_replay_step(&replay);
        if (!is_held(asked, found, row)) continue;
        total_bytes += (uint64_t)allocation_site_held_bytes(&found->profile->sites.sites[t->site[row]]);
        profile_event_list_take(list, row, difference);
    }
    return (int64_t)total_bytes;
}

static bool write_held(struct work *work, const void *context, const struct profile_found *found, struct json_writer *w,
                       struct error *error) {
    const struct held_request *asked = context;
    struct profile_event_list list;
    if (!profile_event_list_make(found->profile, found->timeline, asked->offset, asked->limit, &work->arena, &list))
        return work_out_of_memory(error);
    int64_t total_bytes = take_held(asked, found, &list);
    json_write_text_key(w, "asked_op", asked->op);
    json_write_int64_key(w, "total", list.total);
    json_write_int64_key(w, "total_bytes", total_bytes);
    json_write_int64_key(w, "offset", asked->offset);
    return profile_events_write(&list, &work->arena, w, error);
}

bool api_profile_held(struct request *request, struct reply *reply, struct error *error) {
    struct held_request asked = {.op = request_query(request, "op")};
    return profile_number_read(request, "offset", 0, 0, INT64_MAX, &asked.offset, error) &&
           profile_number_read(request, "limit", HELD_WHEN_NOT_ASKED, 0, HELD_MAX, &asked.limit, error) &&
           profile_answer(request, "held", write_held, &asked, reply, error);
}
