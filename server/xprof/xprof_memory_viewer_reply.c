#include "server/xprof/xprof.h"

#include "server/xprof/allocation_timeline.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"
#include "server/xprof/xprof_memory_viewer.h"

static bool build_view(struct work *work, const struct module_request *asked, struct memory_view *view,
                       struct error *error) {
    const struct hlo_module *module = module_store_load(work, &asked->found, error);
    if (!module) return false;
    return memory_view_build(module, asked->space, MEMORY_VIEW_AS_XPROF, &work->arena, view, error) ||
           error_in_file(error, asked->found.file->path, (int64_t)asked->found.program->offset);
}

static bool write_json(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct module_request *asked = context;
    struct memory_view view;
    if (!build_view(work, asked, &view, error)) return false;
    struct scoped_vmem scoped_vmem = scoped_vmem_find(view.module, asked->space);
    return xprof_memory_viewer_write(&view, scoped_vmem, &work->arena, w, error);
}

static bool write_timeline(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct module_request *asked = context;
    struct memory_view view;
    return build_view(work, asked, &view, error) &&
           allocation_timeline_write(&view, asked->module, &work->arena, w->output, error);
}

// XProf takes any text in view_memory_allocation_timeline for yes, "false" too.
bool xprof_memory_viewer_reply(struct request *request, struct reply *reply, struct error *error) {
    struct module_request asked;
    const char *timeline = request_query(request, "view_memory_allocation_timeline");
    bool is_timeline = timeline && *timeline;
    if (!module_request_of_xprof(request, &asked, error)) return false;
    const char *key = module_request_key(request, &asked, is_timeline ? "timeline" : "memory_viewer", error);
    if (!key) return false;
    if (is_timeline) return kept_reply(request, key, REPLY_HTML, write_timeline, &asked, reply, error);
    return kept_reply(request, key, REPLY_JSON, write_json, &asked, reply, error);
}
