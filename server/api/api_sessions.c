#include "server/api/api.h"

#include "server/app.h"
#include "server/text/fields.h"

static const struct field session_fields[] = {
    FIELD_AS("name", struct catalog_session, name, FIELD_TEXT),
    FIELD("modified_s", struct catalog_session, version.modified_s),
    FIELD_END,
};

static const struct field remark_fields[] = {
    FIELD_AS("path", struct input_remark, path, FIELD_TEXT),
    FIELD_AS("reason", struct input_remark, reason, FIELD_TEXT),
    FIELD_END,
};

bool api_sessions(struct request *request, struct reply *reply, struct error *error) {
    struct store *store = request->app->store;
    const struct catalog *catalog = store_catalog(store, &request->work, true, error);
    struct output *output = catalog ? reply_output(request, error) : NULL;
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "logdir", store_logdir(store) ? catalog->root : "");
    json_write_bool_key(&w, "sample", !store_logdir(store));
    fields_write_objects_key(&w, "sessions", session_fields, catalog->sessions, catalog->session_count,
                             sizeof *catalog->sessions);
    fields_write_objects_key(&w, "device_memory", session_fields, catalog->device_memory, catalog->device_memory_count,
                             sizeof *catalog->device_memory);
    fields_write_objects_key(&w, "pending", remark_fields, catalog->pending, catalog->pending_count,
                             sizeof *catalog->pending);
    fields_write_objects_key(&w, "left_out", remark_fields, catalog->left_out, catalog->left_out_count,
                             sizeof *catalog->left_out);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
