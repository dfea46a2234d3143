#include <limits.h>

#include "server/api/api.h"

#include "analysis/groups/frameworks.h"
#include "server/document/diff_document.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

struct diff_request {
    struct module_request a, b;
    enum memory_group_by by;
    int64_t top;
    const char *frameworks;
};

struct side {
    struct memory_view view;
    struct buffer_sources sources;
};

static bool read_side(struct work *work, const struct module_request *of, const char *frameworks, struct side *side,
                      struct error *error) {
    const struct hlo_module *module = module_store_load(work, &of->found, error);
    if (!module) return false;
    return (memory_view_build(module, of->space, MEMORY_VIEW_EXACT, &work->arena, &side->view, error) &&
            buffer_sources_read(module, frameworks, &work->arena, &side->sources, error)) ||
           error_in_file(error, of->found.file->path, (int64_t)of->found.program->offset);
}

static struct diff_program program_of(const struct module_request *of) {
    return (struct diff_program){of->session.name, of->found.file->host, of->found.program->name};
}

static bool write_diff(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct diff_request *asked = context;
    struct side a, b;
    struct memory_diff diff;
    if (!read_side(work, &asked->a, asked->frameworks, &a, error) ||
        !read_side(work, &asked->b, asked->frameworks, &b, error))
        return false;
    const struct compared_side of_a = {&a.view, &a.sources}, of_b = {&b.view, &b.sources};
    if (!memory_diff_make(&of_a, &of_b, asked->by, &work->arena, &diff, error)) return false;
    const struct diff_document document = {.diff = &diff,
                                           .a = program_of(&asked->a),
                                           .b = program_of(&asked->b),
                                           .space = asked->a.space,
                                           .top = (int)asked->top,
                                           .limit_bytes = DIFF_NO_LIMIT};
    json_open_object(w);
    diff_json_write(&document, &work->arena, w);
    json_close_object(w);
    return true;
}

static bool read_asked(struct request *request, struct diff_request *asked, struct error *error) {
    const char *by = request_query(request, "by");
    asked->frameworks = request_query(request, "frameworks");
    if (!asked->frameworks) asked->frameworks = FRAMEWORKS_DEFAULT;
    if (!module_request_of_api(request, &asked->a, error) ||
        !module_request_of_api_b(request, &asked->a, &asked->b, error) ||
        !request_int64(request, "top", DIFF_ALL, &asked->top, error))
        return false;
    if (asked->top < DIFF_ALL || asked->top > INT_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "\"top\" must be a number of rows, or -1 for all.");
    return memory_group_by_of(by ? by : "source", &asked->by) ||
           error_set(error, ERROR_BAD_REQUEST,
                     "\"by\" must be source, stack, scope, argument, phase, category, dtype, shape or opcode.");
}

bool api_diff(struct request *request, struct reply *reply, struct error *error) {
    struct diff_request asked;
    if (!read_asked(request, &asked, error)) return false;
    const char *b = module_request_key(request, &asked.b, "b", error);
    if (!b) return false;
    const char *name = arena_printf(&request->work.arena, "diff %s %lld %s\n%s\n", memory_group_by_name(asked.by),
                                    (long long)asked.top, asked.frameworks, b);
    if (!name) return work_out_of_memory(error);
    const char *key = module_request_key(request, &asked.a, name, error);
    return key && kept_reply(request, key, REPLY_JSON, write_diff, &asked, reply, error);
}
