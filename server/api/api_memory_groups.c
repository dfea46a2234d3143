#include "server/api/api.h"

#include "analysis/groups/frameworks.h"
#include "server/document/groups_json.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"

struct groups_request {
    struct module_request module;
    enum memory_group_by by;
    enum memory_group_weight weight;
    int64_t step;
    const char *frameworks;
};

static void write_head(const struct groups_request *asked, struct json_writer *w) {
    json_write_text_key(w, "session", asked->module.session.name);
    json_write_text_key(w, "host", asked->module.found.file->host);
    json_write_text_key(w, "module", asked->module.module);
    json_write_int64_key(w, "memory_space", asked->module.space);
}

// What the buffers of the module are called by; lives as long as the work.
struct grouped {
    struct memory_view view;
    struct buffer_sources sources;
    struct memory_grouping grouping;
};

static bool group(struct work *work, const struct groups_request *asked, struct grouped *grouped, struct error *error) {
    const struct found_module *found = &asked->module.found;
    const struct hlo_module *module = module_store_load(work, found, error);
    if (!module) return false;
    return (memory_view_build(module, asked->module.space, MEMORY_VIEW_EXACT, &work->arena, &grouped->view, error) &&
            buffer_sources_read(module, asked->frameworks, &work->arena, &grouped->sources, error) &&
            memory_grouping_make(&grouped->view, &grouped->sources, asked->by, &work->arena, &grouped->grouping,
                                 error)) ||
           error_in_file(error, found->file->path, (int64_t)found->program->offset);
}

static bool write_groups(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct groups_request *asked = context;
    struct arena *arena = &work->arena;
    struct grouped grouped;
    struct memory_groups groups;
    uint32_t step;
    if (!group(work, asked, &grouped, error) || !memory_groups_step(&grouped.view, asked->step, &step, error) ||
        !memory_groups_at(&grouped.grouping, step, arena, &groups, error))
        return false;
    memory_groups_weigh(&groups, asked->weight);
    struct group_row *rows = arena_new(arena, struct group_row, groups.row_count);
    if (!rows) return work_out_of_memory(error);
    for (uint32_t i = 0; i < groups.row_count; i++) {
        struct group_facts facts = group_facts_of(&grouped.grouping, &grouped.sources, &groups, i, arena);
        rows[i] = group_row_of(&groups, i);
        group_row_add_facts(&rows[i], &facts);
    }
    json_open_object(w);
    write_head(asked, w);
    groups_json_write_columns(&grouped.grouping, &groups, rows, w);
    json_close_object(w);
    return true;
}

static bool write_rows(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct groups_request *asked = context;
    struct grouped grouped;
    if (!group(work, asked, &grouped, error)) return false;
    json_open_object(w);
    write_head(asked, w);
    groups_json_write_keys(&grouped.grouping, w);
    json_close_object(w);
    return true;
}

static bool read_asked(struct request *request, struct groups_request *asked, struct error *error) {
    const char *by = request_query(request, "by");
    asked->frameworks = request_query(request, "frameworks");
    if (!asked->frameworks) asked->frameworks = FRAMEWORKS_DEFAULT;
    asked->step = MEMORY_GROUPS_AT_PEAK;
    if (!module_request_of_api(request, &asked->module, error)) return false;
    return memory_group_by_of(by ? by : "source", &asked->by) ||
           error_set(error, ERROR_BAD_REQUEST,
                     "\"by\" must be source, stack, scope, argument, phase, category, dtype, shape or opcode.");
}

static bool answer(struct request *request, struct groups_request *asked, const char *name, kept_reply_write *write,
                   struct reply *reply, struct error *error) {
    if (!name) return work_out_of_memory(error);
    const char *key = module_request_key(request, &asked->module, name, error);
    return key && kept_reply(request, key, REPLY_JSON, write, asked, reply, error);
}

bool api_memory_groups(struct request *request, struct reply *reply, struct error *error) {
    struct groups_request asked;
    if (!read_asked(request, &asked, error) ||
        !request_int64(request, "step", MEMORY_GROUPS_AT_PEAK, &asked.step, error))
        return false;
    const char *weight = request_query(request, "weight");
    if (!memory_group_weight_of(weight ? weight : "size", &asked.weight))
        return error_set(error, ERROR_BAD_REQUEST, "\"weight\" must be size, padding or size_x_lifetime.");
    const char *name = arena_printf(&request->work.arena, "groups %s %s %lld %s", memory_group_by_name(asked.by),
                                    memory_group_weight_name(asked.weight), (long long)asked.step, asked.frameworks);
    return answer(request, &asked, name, write_groups, reply, error);
}

bool api_memory_group_rows(struct request *request, struct reply *reply, struct error *error) {
    struct groups_request asked;
    if (!read_asked(request, &asked, error)) return false;
    const char *name = arena_printf(&request->work.arena, "group rows %s %s", memory_group_by_name(asked.by),
                                    asked.frameworks);
    return answer(request, &asked, name, write_rows, reply, error);
}
