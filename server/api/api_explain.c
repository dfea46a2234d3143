#include "server/api/api.h"

#include "server/app.h"
#include "server/document/explain_document.h"

// A session that is not there must not look like one without the program.
static bool is_session(struct request *request, const char *name, struct error *error) {
    struct session session;
    struct session_place place = {.name = name};
    return !name ||
           store_open_session(request->app->store, &request->work, &place, STORE_LIST_NOTHING, &session, error);
}

bool api_explain(struct request *request, struct reply *reply, struct error *error) {
    struct explain_request asked = {.log = request->body,
                                    .session = request_given(request, "session"),
                                    .preferred = request_given(request, "prefer"),
                                    .module = request_given(request, "module")};
    struct explanation explanation;
    request->work.is_urgent = true;
    if (!is_session(request, asked.session, error)) return false;
    if (!request_capacity(request, OOM_ABSENT, &asked.capacity_bytes, error)) return false;
    if (!explanation_make(&request->work, request->app->store, &asked, &explanation, error)) return false;
    if (explanation.log.message_count == 0) return error_set(error, ERROR_NOT_FOUND, "no out-of-memory message found");
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    explain_json_write(&explanation, &request->work.arena, &w);
    return reply_written(reply, REPLY_JSON, output, error);
}
