#include "server/explanation/explain_join.h"

#include <string.h>

#include "analysis/base/text_writer.h"
enum { TOLERANCE_DIVISOR = 10 };

struct search {
    struct explain_joins *joins;
    const struct oom_message *message;
    struct bytes name;  // "jit_h" or "jit_h(1)"
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
    struct work *work = search->joins->work;
    struct found_module found;
    struct error error;
    int64_t needed = search->message->needed_bytes, distance = 0;
    bool is_session_given = search->joins->session != NULL;  // then a total that is off is no reason against it
    if (search->candidates++ >= EXPLAIN_CANDIDATES_MAX) return;
    if (!module_store_name(work, file, program, &found, &error)) return;
    int64_t total = total_of(work, &found);
    if (total == OOM_ABSENT) return;
    if (needed != OOM_ABSENT) distance = total > needed ? total - needed : needed - total;
    if (distance > needed / TOLERANCE_DIVISOR && needed != OOM_ABSENT && !is_session_given) return;
    if (search->best_session && distance >= search->best_distance) return;
    search->best = found;
    search->best_session = session;
    search->best_distance = distance;
}

// NULL without memory.
static const struct explain_session *read_session(struct explain_joins *joins, const char *name) {
    struct work *work = joins->work;
    struct explain_session *read = arena_new(&work->arena, struct explain_session, 1);
    struct session session;
    struct error error;
    struct session_place place = {.name = name};
    if (!read) return NULL;
    *read = (struct explain_session){.next = joins->sessions, .asked = name, .name = name};
    joins->sessions = read;
    if (!store_open_session(joins->store, work, &place, STORE_LIST_SEEN, &session, &error)) return read;
    read->name = session.name;
    if (!module_list_read(work, &session, &read->modules, &error)) read->modules.row_count = 0;
    return read;
}

static const struct explain_session *session_of(struct explain_joins *joins, const char *name) {
    for (const struct explain_session *known = joins->sessions; known; known = known->next) {
        if (strcmp(known->asked, name) == 0) return known;
    }
    return read_session(joins, name);
}

static void search_session(struct search *search, const char *name) {
    const struct explain_session *session = session_of(search->joins, name);
    for (size_t i = 0; session && i < session->modules.row_count; i++) {
        const struct module_row *row = &session->modules.rows[i];
        if (is_named(row->program, search->name))
            consider(search, session->name, session->modules.hosts[row->hosts[0]].file, row->program);
    }
}

static void search_all(struct search *search) {
    struct error error;
    const struct catalog *catalog = store_catalog(search->joins->store, search->joins->work, false, &error);
    for (size_t i = 0; catalog && i < catalog->session_count && i < EXPLAIN_SESSIONS_MAX; i++) {
        if (search->best_session && (search->best_distance == 0 || search->candidates >= EXPLAIN_CANDIDATES_MAX))
            return;
        search_session(search, catalog->sessions[i].name);
    }
    if (!store_logdir(search->joins->store)) search_session(search, STORE_SAMPLE_SESSION);
}

// --- The join ---

static bool read_evidence(struct work *work, struct explain_join *join) {
    struct error error;
    cache_take_slot(work->cache);
    bool is_good = oom_evidence_read(join->program, join->space, &work->arena, &join->evidence, &error);
    cache_give_slot(work->cache);
    return is_good;
}

static struct explain_join *make(const struct search *search) {
    struct error error;
    struct work *work = search->joins->work;
    struct explain_join *join = arena_new(&work->arena, struct explain_join, 1);
    if (!join) return NULL;
    join->found = search->best;
    join->program = module_store_load(work, &join->found, &error);
    join->session = search->best_session;
    join->host = join->found.file->host;
    join->module = arena_string(&work->arena, join->found.program->name);
    if (!join->module || !join->program || !read_evidence(work, join)) return NULL;
    join->advice = explain_advice_of(work, &join->found);
    return join;
}

static const struct explain_join *known_or_made(const struct search *search) {
    struct explain_joins *joins = search->joins;
    for (struct explain_join *known = joins->made; known; known = known->next) {
        if (strcmp(known->found.key, search->best.key) == 0) return known;
    }
    struct explain_join *join = make(search);
    if (join) {
        join->next = joins->made;
        joins->made = join;
    }
    return join;
}

const struct explain_join *explain_join(struct explain_joins *joins, const struct oom_message *message) {
    const char *name = joins->module ? joins->module : message->module;
    if (!name || (message->memory_space && strcmp(message->memory_space, "hbm") != 0)) return NULL;
    struct search search = {.joins = joins, .message = message, .name = bytes_of(name)};
    if (joins->session)
        search_session(&search, joins->session);
    else
        search_all(&search);
    return search.best_session ? known_or_made(&search) : NULL;
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
