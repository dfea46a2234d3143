#include "server/api/api.h"

#include "server/http/kept_reply.h"
#include "server/http/profile_request.h"
#include "server/text/json_writer.h"
#include "server/text/utf8.h"

// --- Whose runs ---

static const struct input_file *host_file(const struct session *session, const char *host) {
    for (size_t i = 0; i < session->files.host_count; i++) {
        if (utf8_same_text(bytes_of(session->files.files[i].host), host)) return &session->files.files[i];
    }
    return NULL;
}

static bool has_runs(struct cache *cache, const struct input_file *file) {
    struct work work;
    struct error ignored;
    work_init(&work, cache);
    const struct memory_profile *profile = profile_store_load(&work, file, &ignored);
    bool found = profile && profile->module_run_count;
    work_free(&work);
    return found;
}

// The first host with runs, else the first.
static const struct input_file *choose(struct work *work, const struct profile_request *asked) {
    const struct session_files *files = &asked->session.files;
    if (asked->host) return host_file(&asked->session, asked->host);
    for (size_t i = 0; i < files->host_count; i++) {
        if (has_runs(work->cache, &files->files[i])) return &files->files[i];
    }
    return files->host_count ? &files->files[0] : NULL;
}

// --- The document ---

struct run_columns {
    struct string_table names, devices;  // the empty text, at 0, stands for no device
    uint32_t *name;
    int64_t *device;
};

static bool fill(const struct memory_profile *profile, struct arena *arena, struct run_columns *columns) {
    size_t count = profile->module_run_count;
    if (!string_table_init(&columns->names, arena) || !string_table_init(&columns->devices, arena)) return false;
    columns->name = arena_new(arena, uint32_t, count + 1);
    columns->device = arena_new(arena, int64_t, count + 1);
    if (!columns->name || !columns->device) return false;
    for (size_t i = 0; i < count; i++) {
        columns->name[i] = string_table_put(&columns->names, profile->module_runs[i].name);
        columns->device[i] = (int64_t)string_table_put(&columns->devices, profile->module_runs[i].device) - 1;
    }
    return !string_table_has_failed(&columns->names) && !string_table_has_failed(&columns->devices);
}

static void write_times(const struct memory_profile *profile, struct json_writer *w) {
    json_key(w, "begin_ps");
    json_open_array(w);
    for (size_t i = 0; i < profile->module_run_count; i++) json_write_int64(w, profile->module_runs[i].begin_ps);
    json_close_array(w);
    json_key(w, "end_ps");
    json_open_array(w);
    for (size_t i = 0; i < profile->module_run_count; i++) json_write_int64(w, profile->module_runs[i].end_ps);
    json_close_array(w);
}

static void write_document(const struct session *session, const char *host, const struct memory_profile *profile,
                           const struct run_columns *columns, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "session", session->name);
    json_write_text_key(w, "host", host);
    string_table_write(&columns->names, w);
    json_key(w, "devices");
    json_open_array(w);
    for (uint32_t i = 1; i < columns->devices.count; i++) json_write_string(w, columns->devices.texts[i]);
    json_close_array(w);
    json_key(w, "runs");
    json_open_object(w);
    json_write_uint32_column(w, "name", columns->name, profile->module_run_count);
    json_write_int64_column(w, "device", columns->device, profile->module_run_count);
    write_times(profile, w);
    json_close_object(w);
    json_close_object(w);
}

static bool write_modules(struct work *work, void *context, struct output *output, struct error *error) {
    const struct profile_request *asked = context;
    const struct input_file *file = choose(work, asked);
    struct run_columns columns;
    if (!file) return error_set(error, ERROR_NOT_FOUND, "This session has no .xplane.pb file.");
    const struct memory_profile *profile = profile_store_load(work, file, error);
    if (!profile) return false;
    if (!fill(profile, &work->arena, &columns)) return work_out_of_memory(error);
    struct json_writer w = json_writer_on(output);
    write_document(&asked->session, file->host, profile, &columns, &w);
    return true;
}

bool api_profile_modules(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read(request, &asked, error)) return false;
    const char *key = profile_request_key(request, &asked, "profile_modules", error);
    return key && kept_reply(request, key, REPLY_JSON, write_modules, &asked, reply, error);
}
