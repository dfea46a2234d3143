#include "server/explanation/explain_join.h"

#include <string.h>

#include "analysis/base/text_writer.h"
#include "server/store/module_list.h"

enum { TOLERANCE_DIVISOR = 10 };

struct search {
    struct work *work;
    struct store *store;
    const struct oom_message *message;
    struct bytes name;      // "jit_h" or "jit_h(1)"
    bool is_session_given;  // a total that is off is no reason against it
    int candidates;
    struct found_module best;
    const char *best_session;
    int64_t best_distance;  // from the total to what was needed; -1: none found yet
};

// --- Which module ---

static bool is_named(const struct xspace_program *program, struct bytes name) {
    return bytes_equal(program->name, name) || bytes_equal(program->module_name, name);
}

// In HBM; OOM_ABSENT when the module cannot be read or has no buffers.
static int64_t total_of(struct work *work, const struct found_module *found) {
    struct memory_totals_list totals;
    struct error error;
    const struct hlo_module *module = module_store_load(work, found, &error);
    if (!module || module->allocation_count == 0) return OOM_ABSENT;
    if (!memory_totals_list(module, &work->arena, &totals, &error)) return OOM_ABSENT;
    return memory_totals_of(&totals, 0).total_bytes;
}

static void consider(struct search *search, const char *session, const struct input_file *file,
                     const struct xspace_program *program) {
    struct found_module found;
    struct error error;
    int64_t needed = search->message->needed_bytes, distance = 0;
    if (search->candidates++ >= EXPLAIN_CANDIDATES_MAX) return;
    if (!module_store_name(search->work, file, program, &found, &error)) return;
    int64_t total = total_of(search->work, &found);
    if (total == OOM_ABSENT) return;
    if (needed != OOM_ABSENT) distance = total > needed ? total - needed : needed - total;
    if (distance > needed / TOLERANCE_DIVISOR && needed != OOM_ABSENT && !search->is_session_given) return;
    if (search->best_session && distance >= search->best_distance) return;
    search->best = found;
    search->best_session = session;
    search->best_distance = distance;
}

static void search_session(struct search *search, const char *name) {
    struct session session;
    struct module_list modules;
    struct error error;
    struct session_place place = {.name = name};
    if (!store_open_session(search->store, search->work, &place, STORE_LIST_SEEN, &session, &error)) return;
    if (!module_list_read(search->work, &session, &modules, &error)) return;
    for (size_t i = 0; i < modules.row_count; i++) {
        const struct module_row *row = &modules.rows[i];
        if (is_named(row->program, search->name))
            consider(search, session.name, modules.hosts[row->hosts[0]].file, row->program);
    }
}

static void search_all(struct search *search) {
    struct error error;
    const struct catalog *catalog = store_catalog(search->store, search->work, false, &error);
    for (size_t i = 0; catalog && i < catalog->session_count && i < EXPLAIN_SESSIONS_MAX; i++) {
        if (search->best_session && (search->best_distance == 0 || search->candidates >= EXPLAIN_CANDIDATES_MAX))
            return;
        search_session(search, catalog->sessions[i].name);
    }
    if (!store_logdir(search->store)) search_session(search, STORE_SAMPLE_SESSION);
}

// --- The join ---

static struct explain_join *make(struct search *search) {
    struct error error;
    struct arena *arena = &search->work->arena;
    struct explain_join *join = arena_new(arena, struct explain_join, 1);
    const struct hlo_module *module = module_store_load(search->work, &search->best, &error);
    if (!join || !module || !oom_evidence_read(module, join->space, arena, &join->evidence, &error)) return NULL;
    join->program = module;
    join->session = search->best_session;
    join->host = search->best.file->host;
    join->module = arena_string(arena, search->best.program->name);
    return join->module ? join : NULL;
}

const struct explain_join *explain_join(struct work *work, struct store *store,
                                        const struct explain_join_request *asked) {
    const char *name = asked->module ? asked->module : asked->message->module;
    const char *space = asked->message->memory_space;
    if (!name || (space && strcmp(space, "hbm") != 0)) return NULL;
    struct search search = {.work = work,
                            .store = store,
                            .message = asked->message,
                            .name = bytes_of(name),
                            .is_session_given = asked->session != NULL};
    if (asked->session)
        search_session(&search, asked->session);
    else
        search_all(&search);
    return search.best_session ? make(&search) : NULL;
}

// --- Its address ---

static void put_encoded(struct text_writer *writer, const char *text) {
    static const char hex[] = "0123456789ABCDEF";
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        strchr("-_.~/", *c);
        char escaped[] = {'%', hex[*c >> 4], hex[*c & 15], 0};
        if (is_plain)
            text_put_bytes(writer, (struct bytes){c, 1});
        else
            text_put(writer, escaped);
    }
}

static void put_argument(struct text_writer *writer, const char *name, const char *value) {
    text_put(writer, name);
    put_encoded(writer, value);
}

const char *explain_link(const struct explain_join *join, int64_t logical_buffer_id, struct arena *arena) {
    struct text_writer writer = {.arena = arena};
    put_argument(&writer, "?run=", join->session);
    text_put(&writer, "&tag=memory_viewer");
    if (join->host[0]) put_argument(&writer, "&host=", join->host);
    put_argument(&writer, "&module_name=", join->module);
    text_put(&writer, "&memory_space=");
    text_put_int64(&writer, join->space);
    if (logical_buffer_id >= 0) {
        text_put(&writer, "&buffer=");
        text_put_int64(&writer, logical_buffer_id);
    }
    return text_writer_finish(&writer);
}
