#include "server/api/api.h"

#include "server/document/profile_host.h"
#include "server/http/kept_reply.h"
#include "server/http/profile_request.h"
#include "server/text/fields.h"

// --- Whose runs ---

// The first host with runs, else the first. What the overview keeps of a host tells it without the profile. NULL where
// one before it cannot be read now, or there is none.
static const struct input_file *choose(struct work *work, const struct profile_request *asked, struct error *error) {
    const struct session_files *files = &asked->session.files;
    if (asked->host) return session_host(&asked->session, asked->host);
    for (size_t i = 0; i < files->host_count; i++) {
        const struct profile_host *host = profile_host_load(work, &files->files[i], error);
        if (!host) return NULL;
        if (host->has_module_runs) return &files->files[i];
    }
    if (files->host_count) return &files->files[0];
    error_set(error, ERROR_NOT_FOUND, "This session has no .xplane.pb file.");
    return NULL;
}

// --- The document ---

struct run_row {
    struct module_run run;
    int64_t device;  // among the devices; -1 for none
};

static const struct field run_fields[] = {
    FIELD("name", struct run_row, run.name),
    FIELD("device", struct run_row, device),
    FIELD("begin_ps", struct run_row, run.begin_ps),
    FIELD("end_ps", struct run_row, run.end_ps),
    FIELD_END,
};

// The empty text, the first of `devices`, stands for no device.
static bool write_runs(const struct memory_profile *profile, struct arena *arena, struct json_writer *w) {
    size_t count = profile->module_run_count;
    struct run_row *rows = arena_push_raw(arena, count, sizeof *rows);
    struct string_table names, devices;
    if (!rows || !string_table_init(&names, arena) || !string_table_init(&devices, arena)) return false;
    for (size_t i = 0; i < count; i++) {
        const struct module_run *run = &profile->module_runs[i];
        rows[i] = (struct run_row){*run, (int64_t)string_table_put(&devices, run->device) - 1};
    }
    fields_put_strings(run_fields, rows, count, sizeof *rows, &names);
    string_table_write(&names, w);
    json_open_array_key(w, "devices");
    for (uint32_t i = 1; i < devices.count; i++) json_write_string(w, devices.texts[i]);
    json_close_array(w);
    json_open_object_key(w, "runs");
    fields_write_columns(w, run_fields, rows, count, sizeof *rows, &names);
    json_close_object(w);
    return !string_table_has_failed(&names) && !string_table_has_failed(&devices);
}

static bool write_modules(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct profile_request *asked = context;
    const struct input_file *file = choose(work, asked, error);
    const struct memory_profile *profile = file ? profile_store_load(work, file, error) : NULL;
    if (!profile) return false;
    json_open_object(w);
    json_write_text_key(w, "session", asked->session.name);
    json_write_text_key(w, "host", file->host);
    bool is_written = write_runs(profile, &work->arena, w);
    json_close_object(w);
    return is_written || work_out_of_memory(error);
}

bool api_profile_modules(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read(request, &asked, error)) return false;
    const char *key = profile_request_key(request, &asked, "profile_modules", error);
    return key && kept_reply(request, key, REPLY_JSON, write_modules, &asked, reply, error);
}
