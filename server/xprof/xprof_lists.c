#include "server/xprof/xprof.h"

#include "server/app.h"
#include "server/http/module_request.h"
#include "server/text/json_writer.h"
#include "server/store/module_list.h"

// XProf's lists have no place for what is left out of them: a header says of how much that is so, 0 as well, as whoever
// keeps an answer keeps its headers too until another one names them. False: no memory.
static bool say_left_out(struct request *request, struct reply *reply, size_t count, struct error *error) {
    reply->left_out = arena_printf(&request->work.arena, "%zu", count);
    return reply->left_out || work_out_of_memory(error);
}

// The session of the request; without files when there is none of that name.
static bool open_or_empty(struct request *request, struct session *session, struct error *error) {
    struct session_place place = session_place_of_xprof(request);
    if (store_open_session(request->app->store, &request->work, &place, STORE_LIST_ANEW, session, error)) return true;
    *session = (struct session){.name = ""};
    return error->code == ERROR_NOT_FOUND;
}

bool xprof_runs(struct request *request, struct reply *reply, struct error *error) {
    struct session_place place = session_place_of_xprof(request);
    struct name_list list;
    if (!store_session_names(request->app->store, &request->work, &place, &list, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_array(&w);
    for (size_t i = 0; i < list.count; i++) json_write_text(&w, list.names[i]);
    json_close_array(&w);
    return say_left_out(request, reply, list.left_out_count, error) && reply_written(reply, REPLY_JSON, output, error);
}

// XProf looks at the first xplane file only. Without an index it cannot be read.
static bool has_programs(struct request *request, const struct session *session, bool *is_unread) {
    struct error ignored;
    if (session->files.file_count == 0) return false;
    const struct input_file *first = file_store_look(&request->work, session, 0, &ignored);
    const struct file_index *indexed = first ? module_store_index(&request->work, first, &ignored) : NULL;
    *is_unread = !indexed || indexed->fault;
    return indexed && indexed->index.program_count > 0;
}

bool xprof_run_tools(struct request *request, struct reply *reply, struct error *error) {
    struct session session;
    if (!open_or_empty(request, &session, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_array(&w);
    if (session.files.host_count > 0) json_write_text(&w, "memory_profile");
    bool is_unread = false;
    if (has_programs(request, &session, &is_unread)) json_write_text(&w, "memory_viewer");
    json_close_array(&w);
    return say_left_out(request, reply, session.files.left_out_count + is_unread, error) &&
           reply_written(reply, REPLY_JSON, output, error);
}

bool xprof_hosts(struct request *request, struct reply *reply, struct error *error) {
    struct session session;
    if (!open_or_empty(request, &session, error)) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    struct json_writer w = json_writer_on(output);
    json_open_array(&w);
    for (size_t i = 0; i < session.files.host_count; i++) {
        json_open_object(&w);
        json_write_text_key(&w, "hostname", session.files.files[i].host);
        json_close_object(&w);
    }
    json_close_array(&w);
    return say_left_out(request, reply, session.files.left_out_count, error) &&
           reply_written(reply, REPLY_JSON, output, error);
}

// Where no program is known, and a host cannot be read just now: that. NULL: there is none.
static const struct error *unread(const struct module_list *list) {
    for (size_t i = 0; list->row_count == 0 && i < list->host_count; i++) {
        const struct error *why = list->hosts[i].error;
        if (why && why->code == ERROR_UNREADABLE) return why;
    }
    return NULL;
}

static size_t unread_count(const struct module_list *list) {
    size_t count = 0;
    for (size_t i = 0; i < list->host_count; i++) count += list->hosts[i].error != NULL;
    return count;
}

bool xprof_module_list(struct request *request, struct reply *reply, struct error *error) {
    struct session session;
    struct module_list list;
    if (!open_or_empty(request, &session, error)) return false;
    if (!module_list_read(&request->work, &session, &list, error)) return false;
    const struct error *why = unread(&list);
    if (why) *error = *why;
    if (why) return false;
    struct output *output = reply_output(request, error);
    if (!output) return false;
    for (size_t i = 0; i < list.row_count; i++) {
        struct bytes name = list.rows[i].program->name;
        if (i && bytes_equal(name, list.rows[i - 1].program->name)) continue;  // XProf has one of a name
        if (i) output_append_char(output, ',');
        output_append(output, name);
    }
    if (list.row_count == 0 && list.host_count > 0) output_append(output, BYTES("NO_MODULE"));
    return say_left_out(request, reply, session.files.left_out_count + unread_count(&list), error) &&
           reply_written(reply, REPLY_TEXT, output, error);
}

bool xprof_config(struct request *request, struct reply *reply, struct error *error) {
    (void)request, (void)error;
    reply_short(reply, HTTP_OK, REPLY_JSON,
                "{\"hideCaptureProfileButton\": true, \"srcPathPrefix\": \"\", \"enableTabNameLabel\": false}");
    return true;
}

bool xprof_version(struct request *request, struct reply *reply, struct error *error) {
    (void)request, (void)error;
    reply_short(reply, HTTP_OK, REPLY_TEXT, HBMVIEW_VERSION);
    return true;
}
