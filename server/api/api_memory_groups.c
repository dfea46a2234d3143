#include "server/api/api.h"

#include "analysis/groups/frameworks.h"
#include "server/document/groups_json.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

struct groups_request {
    struct module_request module;
    enum memory_group_by by;
    int64_t step;
    const char *frameworks;
};

static void write_head(const struct groups_request *asked, struct json_writer *w) {
    json_write_text_key(w, "session", asked->module.session.name);
    json_write_text_key(w, "host", asked->module.found.file->host);
    json_write_text_key(w, "module", asked->module.module);
    json_write_int64_key(w, "memory_space", asked->module.space);
}

static bool sum(struct work *work, const struct groups_request *asked, const struct hlo_module *module,
                struct json_writer *w, struct error *error) {
    struct arena *arena = &work->arena;
    struct memory_view view;
    struct buffer_sources sources;
    struct memory_grouping grouping;
    struct memory_groups groups;
    uint32_t step;
    if (!memory_view_build(module, asked->module.space, MEMORY_VIEW_EXACT, arena, &view, error) ||
        !memory_groups_step(&view, asked->step, &step, error) ||
        !buffer_sources_read(module, asked->frameworks, arena, &sources, error) ||
        !memory_grouping_make(&view, &sources, asked->by, arena, &grouping, error) ||
        !memory_groups_at(&grouping, step, arena, &groups, error))
        return false;
    struct group_row *rows = arena_new(arena, struct group_row, groups.row_count);
    if (!rows) return work_out_of_memory(error);
    for (uint32_t i = 0; i < groups.row_count; i++) {
        struct group_facts facts = group_facts_of(&grouping, &sources, &groups, i, arena);
        rows[i] = group_row_of(&groups, i);
        group_row_add_facts(&rows[i], &facts);
    }
    json_open_object(w);
    write_head(asked, w);
    groups_json_write_columns(&grouping, &groups, rows, w);
    json_close_object(w);
    return true;
}

static bool write_groups(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct groups_request *asked = context;
    const struct found_module *found = &asked->module.found;
    const struct hlo_module *module = module_store_load(work, found, error);
    if (!module) return false;
    return sum(work, asked, module, w, error) ||
           error_in_file(error, found->file->path, (int64_t)found->program->offset);
}

static bool read_asked(struct request *request, struct groups_request *asked, struct error *error) {
    const char *by = request_query(request, "by");
    asked->frameworks = request_query(request, "frameworks");
    if (!asked->frameworks) asked->frameworks = FRAMEWORKS_DEFAULT;
    if (!module_request_of_api(request, &asked->module, error) ||
        !request_int64(request, "step", MEMORY_GROUPS_AT_PEAK, &asked->step, error))
        return false;
    return memory_group_by_of(by ? by : "source", &asked->by) ||
           error_set(error, ERROR_BAD_REQUEST,
                     "\"by\" must be source, stack, scope, argument, phase, category, dtype, shape or opcode.");
}

bool api_memory_groups(struct request *request, struct reply *reply, struct error *error) {
    struct groups_request asked;
    if (!read_asked(request, &asked, error)) return false;
    const char *name = arena_printf(&request->work.arena, "groups %s %lld %s", memory_group_by_name(asked.by),
                                    (long long)asked.step, asked.frameworks);
    if (!name) return work_out_of_memory(error);
    const char *key = module_request_key(request, &asked.module, name, error);
    return key && kept_reply(request, key, REPLY_JSON, write_groups, &asked, reply, error);
}
