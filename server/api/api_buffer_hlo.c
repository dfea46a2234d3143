#include "server/api/api.h"

#include <inttypes.h>

#include "server/document/hlo_around_json.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

struct hlo_request {
    struct module_request module;
    int64_t id;
};

static bool find_instruction(const struct hlo_module *module, const struct hlo_request *asked, uint32_t *instruction,
                             struct error *error) {
    uint32_t buffer = hlo_buffer_of(module, asked->id);
    *instruction = buffer == HLO_NONE ? HLO_NONE : module->buffers[buffer].instruction;
    if (buffer == HLO_NONE)
        return error_set(error, ERROR_NOT_FOUND, "The module \"%.100s\" has no logical buffer %" PRId64 ".",
                         asked->module.module, asked->id);
    return *instruction < module->instruction_count ||
           error_set(error, ERROR_NOT_FOUND, "No operation of \"%.100s\" is told to make logical buffer %" PRId64 ".",
                     asked->module.module, asked->id);
}

static bool write_hlo(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct hlo_request *asked = context;
    const struct hlo_module *module = module_store_load(work, &asked->module.found, error);
    struct program_graph graph;
    struct hlo_around around;
    uint32_t instruction;
    if (!module || !find_instruction(module, asked, &instruction, error)) return false;
    if (!program_graph_read(module, &work->arena, &graph, error) ||
        !hlo_around_make(&graph, instruction, &work->arena, &around, error))
        return error_in_file(error, asked->module.found.file->path, (int64_t)asked->module.found.program->offset);
    json_open_object(w);
    json_write_text_key(w, "session", asked->module.session.name);
    json_write_text_key(w, "host", asked->module.found.file->host);
    json_write_string_key(w, "module", asked->module.found.program->name);
    json_write_int64_key(w, "logical_buffer_id", asked->id);
    hlo_around_json_write(&around, w);
    json_close_object(w);
    return true;
}

bool api_buffer_hlo(struct request *request, struct reply *reply, struct error *error) {
    struct hlo_request asked;
    const char *id;
    if (!request_need(request, "logical_buffer_id", &id, error) ||
        !request_int64(request, "logical_buffer_id", 0, &asked.id, error) ||
        !module_request_of_api(request, &asked.module, error))
        return false;
    const char *endpoint = arena_printf(&request->work.arena, "buffer hlo %" PRId64, asked.id);
    const char *key = endpoint ? module_request_key(request, &asked.module, endpoint, error) : NULL;
    return key && kept_reply(request, key, REPLY_JSON, write_hlo, &asked, reply, error);
}
