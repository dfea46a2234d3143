#include "server/api/api.h"

#include "server/document/device_memory_json.h"
#include "server/app.h"
#include "server/http/kept_reply.h"
#include "server/store/device_memory_store.h"
#include "server/text/error_json.h"

static bool open_session(struct request *request, struct session *session, struct error *error) {
    struct session_place place = {0};
    return request_need(request, "session", &place.name, error) &&
           store_open_session(request->app->store, &request->work, &place, STORE_LIST_DEVICE_MEMORY, session, error);
}

// --- What there is ---

static void write_file(struct work *work, const struct input_file *file, struct json_writer *w) {
    struct error error;
    const struct device_memory_profile *profile = device_memory_store_load(work, file, &error);
    json_open_object(w);
    json_write_text_key(w, "name", file->name);
    json_write_int64_key(w, "size_bytes", (int64_t)file->version.size_bytes);
    json_write_int64_key(w, "modified_s", file->version.modified_s);
    error_json_write(w, profile ? NULL : &error);
    const struct device_memory_profile nothing = {0};
    device_memory_totals_write(profile ? profile : &nothing, w);
    json_close_object(w);
}

bool api_device_memory(struct request *request, struct reply *reply, struct error *error) {
    struct session session;
    if (!open_session(request, &session, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "session", session.name);
    json_open_array_key(&w, "files");
    for (size_t i = 0; i < session.files.file_count; i++) write_file(&request->work, &session.files.files[i], &w);
    json_close_array(&w);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}

// --- One profile ---

static const char *const FRAMES[] = {[DEVICE_MEMORY_ALL_FRAMES] = "all", [DEVICE_MEMORY_OWN_FRAMES] = "own"};

struct asked_profile {
    const char *session;
    const struct input_file *file;
    enum device_memory_frames frames;
};

static bool read_frames(const struct request *request, enum device_memory_frames *frames, struct error *error) {
    const char *text = request_given(request, "frames");
    *frames = DEVICE_MEMORY_ALL_FRAMES;
    if (!text) return true;
    for (size_t i = 0; i < sizeof FRAMES / sizeof *FRAMES; i++) {
        if (strcmp(text, FRAMES[i]) != 0) continue;
        *frames = (enum device_memory_frames)i;
        return true;
    }
    return error_set(error, ERROR_BAD_REQUEST, "frames is all or own, not \"%.60s\".", text);
}

static bool write_profile(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct asked_profile *asked = context;
    const struct device_memory_profile *profile = device_memory_store_load(work, asked->file, error);
    struct device_memory_tree tree;
    if (!profile) return false;
    if (!device_memory_tree_build(profile, asked->frames, &work->arena, &tree, error))
        return error_in_file(error, asked->file->path, 0);
    json_open_object(w);
    json_write_text_key(w, "session", asked->session);
    json_write_text_key(w, "file", asked->file->name);
    json_write_int64_key(w, "size_bytes", (int64_t)asked->file->version.size_bytes);
    json_write_int64_key(w, "modified_s", asked->file->version.modified_s);
    json_write_text_key(w, "frames_shown", FRAMES[asked->frames]);
    json_write_int64_key(w, "bytes", profile->bytes);
    json_write_int64_key(w, "count", profile->count);
    if (!device_memory_columns_write(profile, &tree, &work->arena, w, error)) return false;
    json_close_object(w);
    return true;
}

bool api_device_memory_profile(struct request *request, struct reply *reply, struct error *error) {
    struct session session;
    struct asked_profile asked;
    if (!read_frames(request, &asked.frames, error) || !open_session(request, &session, error)) return false;
    asked.session = session.name;
    asked.file = device_memory_store_find(&session, request_given(request, "file"), &request->work.arena, error);
    const char *file_key = asked.file ? file_store_key(&request->work, "device_memory_profile", asked.file, error)
                                      : NULL;
    if (!file_key) return false;
    const char *key = arena_printf(&request->work.arena, "%s %s\n%s", FRAMES[asked.frames], file_key, session.name);
    if (!key) return work_out_of_memory(error);
    return kept_reply(request, key, REPLY_JSON, write_profile, &asked, reply, error);
}
