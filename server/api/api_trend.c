#include <limits.h>

#include "server/api/api.h"

#include "analysis/groups/frameworks.h"
#include "server/app.h"
#include "server/document/trend_document.h"

// What is there is told after so long; the page asks again for the rest.
enum { PATIENCE_MS = 400, SESSIONS_DEFAULT = 2000, SESSIONS_MAX = 100000 };

static bool read_tool(struct request *request, struct trend_question *question, struct error *error) {
    const char *tool = request_query(request, "tool");
    for (unsigned i = TREND_PROGRAM; i <= TREND_DEVICE_MEMORY; i++) {
        if (tool && strcmp(tool, trend_tool_names[i]) != 0) continue;
        question->tool = (enum trend_tool)i;
        return true;
    }
    return error_set(error, ERROR_BAD_REQUEST, "\"tool\" must be memory_viewer, memory_profile or device_memory.");
}

static bool read_question(struct request *request, struct trend_question *question, int64_t *top, struct error *error) {
    const char *by = request_query(request, "by");
    int64_t last;
    *question = (struct trend_question){.host = request_query(request, "host"),
                                        .frameworks = request_query(request, "frameworks"),
                                        .patience_ms = PATIENCE_MS};
    if (!question->frameworks) question->frameworks = FRAMEWORKS_DEFAULT;
    if (!read_tool(request, question, error) || !request_int64(request, "memory_space", 0, &question->space, error) ||
        !request_int64(request, "limit", SESSIONS_DEFAULT, &last, error) ||
        !request_int64(request, "top", TREND_LINES_DEFAULT, top, error))
        return false;
    question->subject = request_query(request, question->tool == TREND_PROGRAM ? "module" : "memory_id");
    if (last < 1 || last > SESSIONS_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "\"limit\" must be a number of sessions, 1 to %d.", SESSIONS_MAX);
    if (*top < 0 || *top > TREND_LINES_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "\"top\" must be a number of lines, 0 to %d.", TREND_LINES_MAX);
    question->last = (uint32_t)last;
    return memory_group_by_of(by ? by : "source", &question->by) ||
           error_set(error, ERROR_BAD_REQUEST,
                     "\"by\" must be source, stack, scope, argument, phase, category, dtype, shape or opcode.");
}

static bool answer(struct request *request, struct trend *trend, int64_t top, struct reply *reply,
                   struct error *error) {
    struct trend_jump jump;
    bool has_jump = trend->pending_count == 0 && trend_jump_find(trend, &jump);
    const struct trend_document document = {
        .trend = trend, .jump = has_jump ? &jump : NULL, .line_count = (uint32_t)top};
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    if (!trend_json_write(&document, &request->work.arena, &w)) return work_out_of_memory(error);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}

// What a reply is made of is kept, the reply is not: which sessions there are is looked up each time.
bool api_trend(struct request *request, struct reply *reply, struct error *error) {
    struct trend_question question;
    struct trend trend;
    int64_t top;
    if (!read_question(request, &question, &top, error)) return false;
    return trend_read(request->app->store, &request->work, &question, &trend, error) &&
           answer(request, &trend, top, reply, error);
}
