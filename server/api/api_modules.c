#include "server/api/api.h"

#include "server/app.h"
#include "server/document/memory_view_json.h"
#include "server/document/program_fields.h"
#include "server/text/error_json.h"

static void write_hosts(struct json_writer *w, const struct module_list *list) {
    json_key(w, "hosts");
    json_open_array(w);
    for (size_t i = 0; i < list->host_count; i++) {
        const struct module_host *host = &list->hosts[i];
        json_open_object(w);
        json_write_text_key(w, "name", host->file->host);
        json_write_text_key(w, "file", host->file->name);
        json_write_int64_key(w, "size_bytes", (int64_t)host->file->size_bytes);
        json_write_int64_key(w, "modules", (int64_t)host->module_count);
        json_key(w, "error");
        error_json_write(w, host->error);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_row(struct json_writer *w, const struct module_list *list, const struct module_row *row,
                      const struct module_summary *summary) {
    static const char *const states[] = {"pending", "ready", "error"};
    json_open_object(w);
    json_write_string_key(w, "name", row->program->name);
    json_write_string_key(w, "module_name", row->program->module_name);
    fields_write(w, program_id_field, row->program);
    json_write_text_key(w, "host", list->hosts[row->hosts[0]].file->host);
    json_key(w, "hosts");
    json_open_array(w);
    for (uint32_t i = 0; i < row->host_count; i++) json_write_text(w, list->hosts[row->hosts[i]].file->host);
    json_close_array(w);
    json_write_int64_key(w, "hlo_bytes", (int64_t)row->program->size_bytes);
    json_write_text_key(w, "state", states[summary->state]);
    json_key(w, "error");
    error_json_write(w, summary->error);
    memory_spaces_write(summary->spaces, summary->space_count, false, w);
    json_close_object(w);
}

static bool is_complete(const struct module_list *list, const struct module_summary *summaries) {
    for (size_t i = 0; i < list->row_count; i++) {
        if (summaries[i].state == MODULE_SUMMARY_PENDING) return false;
    }
    return true;
}

static void write_list(struct json_writer *w, const struct session *session, const struct module_list *list,
                       const struct module_summary *summaries) {
    json_open_object(w);
    json_write_text_key(w, "session", session->name);
    write_hosts(w, list);
    json_write_bool_key(w, "complete", is_complete(list, summaries));
    json_key(w, "modules");
    json_open_array(w);
    for (size_t i = 0; i < list->row_count; i++) write_row(w, list, &list->rows[i], &summaries[i]);
    json_close_array(w);
    json_close_object(w);
}

bool api_modules(struct request *request, struct reply *reply, struct error *error) {
    const struct app *app = request->app;
    struct work *work = &request->work;
    struct session_place place = {0};
    struct session session;
    struct module_list list;
    const struct module_summary *summaries;
    if (!request_need(request, "session", &place.name, error)) return false;
    if (!store_open_session(app->store, work, &place, &session, error)) return false;
    if (!module_list_read(work, &session, &list, error)) return false;
    if (!module_summaries_ask(app->summaries, work, &list, &summaries, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    write_list(&w, &session, &list, summaries);
    return reply_written(reply, REPLY_JSON, output, error);
}
