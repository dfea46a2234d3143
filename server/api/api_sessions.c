#include "server/api/api.h"

#include "server/app.h"
#include "server/text/json_writer.h"

static void write_sessions(struct json_writer *w, const char *key, const struct catalog_session *sessions,
                           size_t count) {
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        json_write_text_key(w, "name", sessions[i].name);
        json_write_int64_key(w, "modified_s", sessions[i].version.modified_s);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_remarks(struct json_writer *w, const char *key, const struct catalog_remark *remarks, size_t count) {
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        json_write_text_key(w, "path", remarks[i].path);
        json_write_text_key(w, "reason", remarks[i].reason);
        json_close_object(w);
    }
    json_close_array(w);
}

bool api_sessions(struct request *request, struct reply *reply, struct error *error) {
    struct store *store = request->app->store;
    const struct catalog *catalog = store_catalog(store, &request->work, true, error);
    struct output *output = catalog ? reply_output(request, error) : NULL;
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "logdir", store_logdir(store) ? catalog->root : "");
    json_write_bool_key(&w, "sample", !store_logdir(store));
    write_sessions(&w, "sessions", catalog->sessions, catalog->session_count);
    write_sessions(&w, "device_memory", catalog->device_memory, catalog->device_memory_count);
    write_remarks(&w, "pending", catalog->pending, catalog->pending_count);
    write_remarks(&w, "left_out", catalog->left_out, catalog->left_out_count);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
