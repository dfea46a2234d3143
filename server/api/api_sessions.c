#include "server/api/api.h"

#include "analysis/input/session_stamp.h"
#include "server/app.h"
#include "server/live/event_text.h"
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

static void write_version(struct json_writer *w, uint64_t stamp) {
    char version[CATALOG_VERSION_BYTES];
    catalog_version_text(stamp, version);
    json_write_text_key(w, "version", version);
}

static void write_sessions(struct json_writer *w, const char *key, const struct catalog_session *sessions,
                           size_t count) {
    json_open_array_key(w, key);
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        fields_write(w, session_fields, &sessions[i]);
        write_version(w, session_stamp(&sessions[i]));
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
    write_version(&w, catalog_stamp(catalog));
    write_sessions(&w, "sessions", catalog->sessions, catalog->session_count);
    write_sessions(&w, "device_memory", catalog->device_memory, catalog->device_memory_count);
    fields_write_objects_key(&w, "pending", remark_fields, catalog->pending, catalog->pending_count,
                             sizeof *catalog->pending);
    fields_write_objects_key(&w, "left_out", remark_fields, catalog->left_out, catalog->left_out_count,
                             sizeof *catalog->left_out);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
