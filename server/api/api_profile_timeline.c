#include "server/api/api.h"

#include "server/api/profile_question.h"
#include "server/document/timeline_window_json.h"
#include "server/store/profile_store.h"

enum { BUCKETS_WHEN_NOT_ASKED = 1000 };

struct timeline_request {
    struct profile_window window;
    int64_t buckets;
};

static bool write_timeline(struct work *work, const void *context, const struct profile_found *found,
                           struct json_writer *w, struct error *error) {
    const struct timeline_request *asked = context;
    struct timeline_window entries;
    struct profile_window window = profile_window_within(asked->window, found->timeline);
    const struct timeline_pyramid *pyramid = profile_store_pyramid(work, found->file, found->profile, found->timeline,
                                                                   error);
    if (!pyramid) return false;
    json_write_int64_key(w, "from_ps", window.from_ps);
    json_write_int64_key(w, "to_ps", window.to_ps);
    json_write_int64_key(w, "buckets", asked->buckets);
    return (timeline_window_query(pyramid, found->timeline, window.from_ps, window.to_ps, asked->buckets, &work->arena,
                                  &entries) &&
            timeline_window_write(found->timeline, pyramid, &entries, &work->arena, w)) ||
           work_out_of_memory(error);
}

// Not kept: zooming asks for another window with each frame, and each is quickly made.
bool api_profile_timeline(struct request *request, struct reply *reply, struct error *error) {
    struct timeline_request asked;
    return profile_window_read(request, &asked.window, error) &&
           profile_number_read(request, "buckets", BUCKETS_WHEN_NOT_ASKED, 1, TIMELINE_WINDOW_MAX_BUCKETS,
                               &asked.buckets, error) &&
           profile_answer(request, NULL, write_timeline, &asked, reply, error);
}
