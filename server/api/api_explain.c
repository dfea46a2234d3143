#include "server/api/api.h"

#include "analysis/oom/oom_size.h"
#include "server/app.h"
#include "server/document/explain_json.h"

static const char *given(const struct request *request, const char *name) {
    const char *value = request_query(request, name);
    return value && value[0] ? value : NULL;
}

static bool read_capacity(const struct request *request, int64_t *bytes, struct error *error) {
    const char *text = given(request, "capacity");
    *bytes = OOM_ABSENT;
    if (!text || (oom_size_parse(bytes_of(text), bytes) && *bytes > 0)) return true;
    return error_set(error, ERROR_BAD_REQUEST, "capacity is a size like 15.75G or 17179869184, not \"%.60s\".", text);
}

bool api_explain(struct request *request, struct reply *reply, struct error *error) {
    struct explain_request asked = {
        .log = request->body, .session = given(request, "session"), .module = given(request, "module")};
    struct explanation explanation;
    if (!read_capacity(request, &asked.capacity_bytes, error)) return false;
    if (!explanation_make(&request->work, request->app->store, &asked, &explanation, error)) return false;
    if (explanation.log.message_count == 0) return error_set(error, ERROR_NOT_FOUND, "no out-of-memory message found");
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    explain_json_write(&explanation, &request->work.arena, &w);
    return reply_written(reply, REPLY_JSON, output, error);
}
