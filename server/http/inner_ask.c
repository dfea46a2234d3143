#include "server/http/inner_ask.h"

#include "server/app.h"
#include "server/json_read.h"

static void fill_request(const struct app *app, const struct inner_question *question, struct request *request) {
    *request = (struct request){.app = app, .method = question->body.size ? "POST" : "GET", .body = question->body};
    work_init(&request->work, app->cache);
    request->work.reading = question->reading;
    request->path = arena_printf(&request->work.arena, "/api/v1/%s", question->resource);
    for (const struct request_argument *one = question->query; one && one->name; one++) {
        if (one->value && request->query_count < REQUEST_QUERY_MAX) request->query[request->query_count++] = *one;
    }
}

bool inner_ask(const struct app *app, const struct inner_question *question, struct inner_answer *answer) {
    answer->reply = (struct reply){0};
    fill_request(app, question, &answer->request);
    if (answer->request.path) app->ask_api(&answer->request, &answer->reply);
    return answer->reply.status == HTTP_OK;
}

void inner_answer_free(struct inner_answer *answer) {
    work_free(&answer->request.work);
}

static void tell_refusal(const json_t *body, unsigned status, struct error *error) {
    const json_t *told = json_object_get(body, "error");
    const char *message = json_string_value(json_object_get(told, "message"));
    const char *file = json_string_value(json_object_get(told, "file"));
    enum error_code code = error_code_of(json_string_value(json_object_get(told, "code")));
    if (code == ERROR_NONE && status == HTTP_OK)
        code = ERROR_NO_MEMORY;  // the answer was there, and no room to read it
    if (code == ERROR_NONE) code = status == HTTP_NOT_FOUND ? ERROR_NOT_FOUND : ERROR_UNREADABLE;
    error_set(error, code, "%s", message ? message : "There is no answer to keep.");
    if (file) error_in_file(error, file, json_integer_value(json_object_get(told, "offset")));
}

void inner_answer_refusal(const struct inner_answer *answer, struct error *error) {
    const struct bytes body = answer->reply.body;
    json_t *told = json_read(body, JSON_ALLOW_NUL, NULL);
    tell_refusal(told, answer->reply.status, error);
    json_decref(told);
}

json_t *inner_ask_json(const struct app *app, const struct inner_question *question, struct error *error) {
    struct inner_answer answer;
    bool is_good = inner_ask(app, question, &answer);
    const struct reply *reply = &answer.reply;
    json_t *told = json_read(reply->body, JSON_ALLOW_NUL, NULL);
    inner_answer_free(&answer);
    if (told && is_good) return told;
    tell_refusal(told, reply->status, error);
    json_decref(told);
    return NULL;
}
