#include "server/api/api.h"

#include <inttypes.h>

#include "analysis/input/file_stamp.h"
#include "analysis/input/session_stamp.h"
#include "server/app.h"
#include "server/document/remark_fields.h"
#include "server/http/kept_reply.h"
#include "server/live/event_text.h"

static const struct field session_fields[] = {
    FIELD_AS("name", struct catalog_session, name, FIELD_TEXT),
    FIELD("modified_s", struct catalog_session, version.modified_s),
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

struct session_list {
    const char *root;
    const struct catalog *catalog;
};

static bool write_list(struct work *work, void *context, struct json_writer *w, struct error *error) {
    (void)work, (void)error;
    const struct session_list *list = context;
    const struct catalog *catalog = list->catalog;
    json_open_object(w);
    json_write_text_key(w, "logdir", list->root ? catalog->root : "");
    json_write_bool_key(w, "sample", !list->root);
    write_version(w, catalog_stamp(catalog));
    write_sessions(w, "sessions", catalog->sessions, catalog->session_count);
    write_sessions(w, "device_memory", catalog->device_memory, catalog->device_memory_count);
    fields_write_objects_key(w, "pending", remark_fields, catalog->pending, catalog->pending_count,
                             sizeof *catalog->pending);
    fields_write_objects_key(w, "left_out", remark_fields, catalog->left_out, catalog->left_out_count,
                             sizeof *catalog->left_out);
    json_close_object(w);
    return true;
}

static uint64_t with_times(uint64_t stamp, const struct catalog_session *sessions, size_t count) {
    for (size_t i = 0; i < count; i++) stamp = file_stamp_with_number(stamp, (uint64_t)sessions[i].version.modified_s);
    return stamp;
}

// All that the list says, when nothing is pending or left out. NULL: no memory.
static const char *key_of(struct work *work, const struct catalog *catalog) {
    uint64_t stamp = with_times(catalog_stamp(catalog), catalog->sessions, catalog->session_count);
    stamp = with_times(stamp, catalog->device_memory, catalog->device_memory_count);
    return arena_printf(&work->arena, "sessions %016" PRIx64, file_stamp_with_text(stamp, catalog->root));
}

static bool reply_now(struct request *request, struct session_list *list, struct reply *reply, struct error *error) {
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    return write_list(&request->work, list, &w, error) && reply_written(reply, REPLY_JSON, output, error);
}

bool api_sessions(struct request *request, struct reply *reply, struct error *error) {
    struct store *store = request->app->store;
    const struct catalog *catalog = store_catalog_now(store, &request->work, &reply->since, error);
    if (!catalog) return false;
    struct session_list list = {store_logdir(store), catalog};
    if (catalog->pending_count || catalog->left_out_count) return reply_now(request, &list, reply, error);
    const char *key = key_of(&request->work, catalog);
    if (!key) return work_out_of_memory(error);
    return kept_reply_little(request, key, REPLY_JSON, write_list, &list, reply, error);
}
