#include "server/api/api.h"

#include "analysis/groups/frameworks.h"
#include "server/document/groups_json.h"
#include "server/http/kept_reply.h"
#include "server/http/module_request.h"
#include "server/store/group_store.h"

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

static const struct group_steps *steps_of(struct work *work, const struct groups_request *asked, struct error *error) {
    struct group_question question = {asked->module.space, asked->by, asked->frameworks};
    return group_store_steps(work, &asked->module.found, &question, error);
}

static bool write_groups(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct groups_request *asked = context;
    const struct group_steps *steps = steps_of(work, asked, error);
    struct memory_groups groups;
    struct group_facts *facts;
    uint32_t step;
    if (!steps || !memory_groups_step_of(steps->space, steps->peak_step, steps->last_step, asked->step, &step, error) ||
        !group_steps_at(steps, step, asked->weight, &work->arena, &groups, &facts, error))
        return false;
    struct group_row *rows = arena_new(&work->arena, struct group_row, groups.row_count);
    if (!rows) return work_out_of_memory(error);
    for (uint32_t i = 0; i < groups.row_count; i++) {
        rows[i] = group_row_of(&groups, i);
        group_row_add_facts(&rows[i], &facts[i]);
    }
    json_open_object(w);
    write_head(asked, w);
    groups_json_write_columns(steps, &groups, rows, w);
    json_close_object(w);
    return true;
}

static bool write_rows(struct work *work, void *context, struct json_writer *w, struct error *error) {
    const struct groups_request *asked = context;
    const struct group_steps *steps = steps_of(work, asked, error);
    if (!steps) return false;
    json_open_object(w);
    write_head(asked, w);
    groups_json_write_keys(steps, w);
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
