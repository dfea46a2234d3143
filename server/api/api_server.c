#include "server/api/api.h"

#include "server/app.h"
#include "server/text/json_writer.h"

bool api_server(struct request *request, struct reply *reply, struct error *error) {
    const struct app *app = request->app;
    const char *logdir = store_logdir(app->store);
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "version", HBMVIEW_VERSION);
    json_write_text_key(&w, "logdir", logdir ? logdir : "");
    json_write_bool_key(&w, "sample", !logdir);
    json_write_bool_key(&w, "shared", app->access.is_shared);
    json_key(&w, "urls");
    json_open_array(&w);
    for (size_t i = 0; i < app->access.url_count; i++) json_write_text(&w, app->access.urls[i]);
    json_close_array(&w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
