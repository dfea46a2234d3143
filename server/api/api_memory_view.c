#include "server/api/api.h"

#include "server/http/kept_reply.h"
#include "server/document/memory_view_json.h"
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

static bool write_view(struct work *work, void *context, struct output *output, struct error *error) {
    const struct module_request *asked = context;
    struct memory_view_document document = {
        .session = asked->session.name, .host = asked->found.file->host, .module = asked->module};
    const struct hlo_module *module = module_store_load(work, &asked->found, error);
    if (!module) return false;
    dump_facts_read(asked->found.file, &work->arena, &document.dump);
    if (!build(work, module, asked->space, &document, error)) {
        return error_in_file(error, asked->found.file->path, (int64_t)asked->found.program->offset);
    }
    struct json_writer w = json_writer_on(output);
    return memory_view_json_write(&document, &work->arena, &w, error);
}

bool api_memory_view(struct request *request, struct reply *reply, struct error *error) {
    struct module_request asked;
    if (!module_request_of_api(request, &asked, error)) return false;
    const char *key = module_request_key(request, &asked, "memory_view", error);
    return key && kept_reply(request, key, REPLY_JSON, write_view, &asked, reply, error);
}
