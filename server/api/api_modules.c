#include "server/api/api.h"

#include "server/app.h"
#include "server/document/memory_view_document.h"
#include "server/document/program_fields.h"
#include "server/text/error_json.h"

static void write_hosts(struct json_writer *w, const struct module_list *list) {
    json_open_array_key(w, "hosts");
    for (size_t i = 0; i < list->host_count; i++) {
        const struct module_host *host = &list->hosts[i];
        json_open_object(w);
        json_write_text_key(w, "name", host->file->host);
        json_write_text_key(w, "file", host->file->name);
        json_write_int64_key(w, "size_bytes", (int64_t)host->file->version.size_bytes);
        json_write_int64_key(w, "modules", (int64_t)host->module_count);
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
    json_write_text_key(w, "file", list->hosts[row->hosts[0]].file->name);
    json_open_array_key(w, "hosts");
    for (uint32_t i = 0; i < row->host_count; i++) json_write_text(w, list->hosts[row->hosts[i]].file->host);
    json_close_array(w);
    json_write_int64_key(w, "family", row->family);
    json_write_int64_key(w, "hlo_bytes", (int64_t)row->program->size_bytes);
    json_write_text_key(w, "state", states[summary->state]);
    error_json_write(w, summary->error);
    memory_spaces_write(summary->spaces, summary->space_count, false, w);
    json_close_object(w);
}

static void write_rows(struct json_writer *w, const struct module_figures *figures) {
    json_write_text_key(w, "version", figures->version);
    json_write_bool_key(w, "complete", figures->is_complete);
    json_open_array_key(w, "modules");
    for (size_t i = 0; i < figures->list.row_count; i++)
        write_row(w, &figures->list, &figures->list.rows[i], &figures->rows[i]);
    json_close_array(w);
}

// With `since` only the rows that were settled after that version; all of them where that is not of these files.
bool api_modules(struct request *request, struct reply *reply, struct error *error) {
    struct module_summaries *summaries = request->app->summaries;
    struct work *work = &request->work;
    struct session_place place = {0};
    struct module_figures figures;
    const char *since = request_query(request, "since");
    if (!request_need(request, "session", &place.name, error)) return false;
    bool is_part = since && module_summaries_changed(summaries, work, &place, since, &figures);
    if (!is_part && !module_summaries_ask(summaries, work, &place, &figures, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    json_write_text_key(&w, "session", figures.session);
    if (is_part)
        json_write_text_key(&w, "since", since);
    else
        write_hosts(&w, &figures.list);
    write_rows(&w, &figures);
    json_close_object(&w);
    return reply_written(reply, REPLY_JSON, output, error);
}
