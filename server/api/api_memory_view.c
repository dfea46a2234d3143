#include "server/api/api.h"

#include "server/http/kept_reply.h"
#include "server/document/memory_overview_json.h"
#include "server/http/module_request.h"

static bool build(struct work *work, const struct hlo_module *module, int64_t space,
                  struct memory_view_document *document, struct error *error) {
    struct memory_view *view = arena_new(&work->arena, struct memory_view, 1);
    struct memory_view *xprof = arena_new(&work->arena, struct memory_view, 1);
    if (!view || !xprof) return work_out_of_memory(error);
    if (!memory_view_build(module, space, MEMORY_VIEW_EXACT, &work->arena, view, error)) return false;
    document->view = view;
    struct error reason;
    if (memory_view_build(module, space, MEMORY_VIEW_AS_XPROF, &work->arena, xprof, &reason)) {
        document->xprof = xprof;
    } else {
        document->xprof_reason = arena_string(&work->arena, bytes_of(reason.message));
    }
    document->scoped_vmem = scoped_vmem_find(module, space);
    return memory_summaries(module, &work->arena, &document->summaries, error);
}

static bool load(struct work *work, const struct module_request *asked, struct memory_view_document *document,
                 struct error *error) {
    *document = (struct memory_view_document){
        .session = asked->session.name, .host = asked->found.file->host, .module = asked->module};
    const struct hlo_module *module = module_store_load(work, &asked->found, error);
    if (!module) return false;
    dump_facts_read(asked->found.file, &work->arena, &document->dump);
    return build(work, module, asked->space, document, error) ||
           error_in_file(error, asked->found.file->path, (int64_t)asked->found.program->offset);
}

static bool write_view(struct work *work, void *context, struct json_writer *w, struct error *error) {
    struct memory_view_document document;
    return load(work, context, &document, error) && memory_view_json_write(&document, &work->arena, w, error);
}

static bool write_differences(struct work *work, void *context, struct json_writer *w, struct error *error) {
    struct memory_view_document document;
    if (!load(work, context, &document, error)) return false;
    document.as_differences = true;
    return memory_view_json_write(&document, &work->arena, w, error);
}

static bool read_flag(const struct request *request, const char *name, bool *flag, struct error *error) {
    int64_t number;
    if (!request_int64(request, name, 0, &number, error)) return false;
    *flag = number == 1;
    return number == 0 || *flag || error_set(error, ERROR_BAD_REQUEST, "\"%s\" must be 0 or 1.", name);
}

bool api_memory_view(struct request *request, struct reply *reply, struct error *error) {
    struct module_request asked;
    bool delta;
    if (!module_request_of_api(request, &asked, error) || !read_flag(request, "delta", &delta, error)) return false;
    const char *key = module_request_key(request, &asked, delta ? "memory_view delta" : "memory_view", error);
    return key && kept_reply(request, key, REPLY_JSON, delta ? write_differences : write_view, &asked, reply, error);
}

// --- The overview ---

struct overview_request {
    struct module_request module;
    int64_t columns;
};

static bool write_overview(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct overview_request *asked = context;
    struct memory_view_document document;
    return load(work, &asked->module, &document, error) &&
           memory_overview_json_write(&document, (uint32_t)asked->columns, &work->arena, w, error);
}

bool api_memory_overview(struct request *request, struct reply *reply, struct error *error) {
    struct overview_request asked;
    if (!module_request_of_api(request, &asked.module, error) ||
        !request_int64(request, "columns", OVERVIEW_COLUMNS_MAX, &asked.columns, error))
        return false;
    if (asked.columns < 1 || asked.columns > OVERVIEW_COLUMNS_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "\"columns\" must be from 1 to %d.", OVERVIEW_COLUMNS_MAX);
    const char *name = arena_printf(&request->work.arena, "overview %d", (int)asked.columns);
    if (!name) return work_out_of_memory(error);
    const char *key = module_request_key(request, &asked.module, name, error);
    return key && kept_reply(request, key, REPLY_JSON, write_overview, &asked, reply, error);
}
