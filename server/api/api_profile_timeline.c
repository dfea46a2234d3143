#include "server/api/api.h"

#include "server/document/profile_columns_json.h"
#include "server/api/profile_window.h"
#include "server/document/timeline_window_json.h"
#include "server/store/pyramid_store.h"

enum { BUCKETS_WHEN_NOT_ASKED = 1000 };

struct timeline_request {
    struct profile_request profile;
    struct profile_window window;
    int64_t buckets;
};

static void write_document(const struct timeline_request *asked, const struct profile_found *found,
                           const struct timeline_pyramid *pyramid, const struct profile_window *window,
                           const struct timeline_window *entries, struct json_writer *w) {
    json_open_object(w);
    profile_found_write(&asked->profile.session, found, w);
    json_write_int64_key(w, "from_ps", window->from_ps);
    json_write_int64_key(w, "to_ps", window->to_ps);
    json_write_int64_key(w, "buckets", asked->buckets);
    timeline_window_write(found->timeline, pyramid, entries, w);
    json_close_object(w);
}

static bool write_timeline(struct work *work, const struct timeline_request *asked, struct output *output,
                           struct error *error) {
    struct profile_found found;
    struct timeline_window entries;
    if (!profile_request_load(work, &asked->profile, &found, error)) return false;
    const struct timeline_pyramid *pyramid = pyramid_store_get(work, found.file, found.profile, found.timeline, error);
    if (!pyramid) return false;
    struct profile_window window = profile_window_within(asked->window, found.timeline);
    if (!timeline_window_query(pyramid, found.timeline, window.from_ps, window.to_ps, asked->buckets, &work->arena,
                               &entries))
        return work_out_of_memory(error);
    struct json_writer w = json_writer_on(output);
    write_document(asked, &found, pyramid, &window, &entries, &w);
    return true;
}

// Not kept: zooming asks for another window with each frame, and each is quickly made.
bool api_profile_timeline(struct request *request, struct reply *reply, struct error *error) {
    struct timeline_request asked;
    if (!profile_request_read(request, &asked.profile, error)) return false;
    if (!profile_window_read(request, &asked.window, error)) return false;
    if (!profile_number_read(request, "buckets", BUCKETS_WHEN_NOT_ASKED, 1, TIMELINE_WINDOW_MAX_BUCKETS, &asked.buckets,
                             error))
        return false;
    struct output *output = reply_output(request, error);
    return output && write_timeline(&request->work, &asked, output, error) &&
           reply_written(reply, REPLY_JSON, output, error);
}
