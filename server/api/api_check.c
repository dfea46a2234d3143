// What a check of the advice against the compiler tells while it runs, elsewhere (server/live/check_board.h).
#include "server/api/api.h"

#include "analysis/base/steady_clock.h"
#include "server/app.h"
#include "server/document/check_progress.h"
#include "server/http/module_request.h"
#include "server/text/json_writer.h"

static struct checked_program program_of(const struct module_request *asked) {
    return (struct checked_program){asked->session.name, asked->module};
}

static void open_answer(const struct module_request *asked, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "session", asked->session.name);
    json_write_text_key(w, "module", asked->module);
}

static void write_check(const struct app *app, const struct checked_program *program, struct output *members,
                        struct json_writer *w) {
    int64_t age_ms;
    json_key(w, "check");
    if (!app->checks || !check_board_read(app->checks, program, steady_ms(), members, &age_ms)) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_int64_key(w, "age_ms", age_ms);
    json_write_members(w, output_bytes(members));
    json_close_object(w);
}

bool api_check(struct request *request, struct reply *reply, struct error *error) {
    struct module_request asked;
    if (!module_request_of_api(request, &asked, error)) return false;
    struct output *output = reply_output(request, error), *members = output ? reply_output(request, error) : NULL;
    if (!members) return false;
    const struct checked_program program = program_of(&asked);
    struct json_writer w = json_writer_on(output);
    open_answer(&asked, &w);
    write_check(request->app, &program, members, &w);
    json_close_object(&w);
    return !members->failed ? reply_written(reply, REPLY_JSON, output, error) : work_out_of_memory(error);
}

static bool keep(struct request *request, const struct checked_program *program, const struct output *members,
                 struct error *error) {
    struct check_board *board = request->app->checks;
    if (!board) return error_set(error, ERROR_BAD_REQUEST, "Only a server that runs keeps what a check tells.");
    return check_board_put(board, program, output_bytes(members), steady_ms()) ||
           error_set(error, ERROR_TOO_BIG, "There is no room to keep what the check tells.");
}

bool api_check_progress(struct request *request, struct reply *reply, struct error *error) {
    struct module_request asked;
    size_t row_count;
    struct output *output = reply_output(request, error), *members = output ? reply_output(request, error) : NULL;
    if (!members || !module_request_of_api(request, &asked, error)) return false;
    if (!check_progress_read(request->body, members, &row_count, error)) return false;
    const struct checked_program program = program_of(&asked);
    if (!keep(request, &program, members, error)) return false;
    struct json_writer w = json_writer_on(output);
    open_answer(&asked, &w);
    json_write_int64_key(&w, "rows", (int64_t)row_count);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
