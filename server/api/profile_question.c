#include "server/api/profile_question.h"

#include <inttypes.h>

#include "server/http/kept_reply.h"
#include "server/text/json_writer.h"

struct question {
    struct profile_request profile;
    profile_answer_write *write;
    const void *asked;
};

static bool write_document(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct question *question = context;
    struct profile_found found;
    if (!profile_request_load(work, &question->profile, &found, error)) return false;
    json_open_object(w);
    json_write_text_key(w, "session", question->profile.session.name);
    json_write_text_key(w, "host", found.file->host);
    json_write_string_key(w, "memory_id", found.timeline->memory_id);
    bool is_good = question->write(work, question->asked, &found, w, error);
    json_close_object(w);
    return is_good;
}

bool profile_answer(struct request *request, const char *endpoint, profile_answer_write *write, const void *asked,
                    struct reply *reply, struct error *error) {
    struct question question = {.write = write, .asked = asked};
    if (!profile_request_read(request, &question.profile, error)) return false;
    if (endpoint) {
        const char *key = profile_request_key(request, &question.profile, endpoint, error);
        return key && kept_reply(request, key, REPLY_JSON, write_document, &question, reply, error);
    }
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    return write_document(&request->work, &question, &w, error) && reply_written(reply, REPLY_JSON, output, error);
}

bool profile_number_read(const struct request *request, const char *name, int64_t otherwise, int64_t least,
                         int64_t most, int64_t *value, struct error *error) {
    if (!request_int64(request, name, otherwise, value, error)) return false;
    if (*value >= least && *value <= most) return true;
    return error_set(error, ERROR_BAD_REQUEST, "%s is %" PRId64 "; it can be %" PRId64 " to %" PRId64 ".", name, *value,
                     least, most);
}

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
