#include "server/api/api.h"

#include <inttypes.h>

#include "server/document/buffer_json.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

struct buffer_request {
    struct module_request module;
    int64_t id;
};

static bool write_buffer(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct buffer_request *asked = context;
    const struct hlo_module *module = module_store_load(work, &asked->module.found, error);
    if (!module) return false;
    uint32_t buffer = hlo_buffer_of(module, asked->id);
    if (buffer == HLO_NONE) {
        return error_set(error, ERROR_NOT_FOUND, "The module \"%.100s\" has no logical buffer %" PRId64 ".",
                         asked->module.module, asked->id);
    }
    struct memory_view view;
    if (!memory_view_build(module, module->buffers[buffer].color, MEMORY_VIEW_EXACT, &work->arena, &view, error)) {
        return error_in_file(error, asked->module.found.file->path, (int64_t)asked->module.found.program->offset);
    }
    struct buffer_teller teller;
    return buffer_teller_init(&teller, &view, &work->arena, error) &&
           buffer_json_write(&teller, buffer, buffer_row_of(&view, buffer), w, error);
}

bool api_buffer(struct request *request, struct reply *reply, struct error *error) {
    struct buffer_request asked;
    const char *id;
    if (!request_need(request, "logical_buffer_id", &id, error) ||
        !request_int64(request, "logical_buffer_id", 0, &asked.id, error) ||
        !module_request_of_api(request, &asked.module, error)) {
        return false;
    }
    const char *endpoint = arena_printf(&request->work.arena, "buffer %" PRId64, asked.id);
    const char *key = endpoint ? module_request_key(request, &asked.module, endpoint, error) : NULL;
    return key && kept_reply(request, key, REPLY_JSON, write_buffer, &asked, reply, error);
}
