#include "server/explanation/explain_join.h"

#include <string.h>

#include "analysis/base/text_writer.h"
#include "server/text/query_text.h"

// --- The join ---

static bool read_evidence(struct work *work, struct explain_join *join, struct error *error) {
    struct error ignored;
    struct load_wish wish = {.lane = LOAD_URGENT}, outer;
    cache_take_slot(work->cache, wish, work->reading, &outer);
    bool is_good = oom_evidence_read(join->program, join->space, &work->arena, &join->evidence, error);
    if (!oom_holders_read(join->program, &work->arena, &join->holders, &ignored)) join->holders.count = 0;
    cache_give_slot(work->cache, wish, &outer);
    return is_good;
}

static bool fill(struct work *work, struct explain_join *join, struct error *error) {
    join->module = arena_string(&work->arena, join->found.program->name);
    if (!join->module) return work_out_of_memory(error);
    join->program = module_store_load(work, &join->found, error);
    if (!join->program || !read_evidence(work, join, error)) return false;
    return explain_advice_of(work, &join->found, &join->advice, error);
}

static struct explain_join *make(struct explain_joins *joins, const struct explain_search *told,
                                 const struct found_module *found) {
    struct work *work = joins->sessions.work;
    struct error error;
    struct explain_join *join = arena_new(&work->arena, struct explain_join, 1);
    if (!join) return NULL;
    *join = (struct explain_join){.found = *found, .session = told->session, .host = found->file->host};
    if (fill(work, join, &error)) return join;
    explain_miss(&joins->sessions, &error, found->file->path);
    return NULL;
}

const struct explain_join *explain_join(struct explain_joins *joins, const struct oom_message *message,
                                        struct explain_search *told) {
    struct found_module found;
    struct error error;
    if (!explain_search(&joins->sessions, &joins->asked, message, told)) return NULL;
    if (!module_store_name(joins->sessions.work, told->file, told->program, &found, &error)) {
        explain_miss(&joins->sessions, &error, told->file->path);
        return NULL;
    }
    for (struct explain_join *known = joins->made; known; known = known->next) {
        if (strcmp(known->found.key, found.key) == 0) return known;
    }
    struct explain_join *join = make(joins, told, &found);
    if (!join) return NULL;
    join->next = joins->made;
    return joins->made = join;
}

// --- Its address ---

const char *explain_link(const struct explain_join *join, int64_t logical_buffer_id, struct arena *arena) {
    struct text_writer writer = {.arena = arena};
    query_put(&writer, "?run=", join->session);
    text_put(&writer, "&tag=memory_viewer");
    if (join->host[0]) query_put(&writer, "&host=", join->host);
    query_put(&writer, "&module_name=", join->module);
    text_put(&writer, "&memory_space=");
    text_put_int64(&writer, join->space);
    if (logical_buffer_id >= 0) {
        text_put(&writer, "&buffer=");
        text_put_int64(&writer, logical_buffer_id);
    }
    return text_writer_finish(&writer);
}
