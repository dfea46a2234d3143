#include "server/explanation/explain_search.h"

#include <string.h>

#include "analysis/base/growing_array.h"
#include "analysis/base/steady_clock.h"
#include "analysis/oom/oom_match.h"
#include "server/explanation/explain_totals.h"

enum { ROUNDING_BYTES = 6 << 20 };  // what is rounded away of "52.93G"

struct search {
    struct explain_sessions *from;
    const struct oom_message *message;
    const char *preferred;        // session that was looked at first; NULL: none
    struct bytes name;            // "jit_h" or "jit_h(1)"; empty where the instruction tells, or the size alone
    struct bytes instruction;     // that the message names; empty where it names none
    bool is_size_free;            // a total that is off is no reason against it
    bool has_missed;              // a program of the session could not be read
    struct explain_search *told;  // what was found
    int64_t best_distance;        // from the total to what was needed; -1: none found yet
    int64_t near_distance;        // of the one of that name that is nearest, but not near
};

// --- How long ---

bool explain_is_late(struct explain_sessions *from) {
    if (!from->deadline_ms) from->deadline_ms = steady_ms() + EXPLAIN_SEARCH_MS;
    return steady_ms() > from->deadline_ms;
}

// --- What could not be read ---

static bool is_missed(const struct explain_sessions *from, const char *path) {
    for (size_t i = 0; i < from->unreadable_count; i++) {
        if (strcmp(from->unreadable[i].path, path) == 0) return true;
    }
    return false;
}

static void miss(struct explain_sessions *from, const char *path, const char *reason) {
    struct arena *arena = &from->work->arena;
    if (is_missed(from, path)) return;
    struct input_remark remark = {arena_string(arena, bytes_of(path)), arena_string(arena, bytes_of(reason)), true};
    if (remark.path && remark.reason) (void)growing_array_add(arena, from->unreadable, from->unreadable_count, remark);
}

void explain_miss(struct explain_sessions *from, const struct error *error, const char *place) {
    miss(from, error->file[0] ? error->file : place, error->message);
}

static void miss_program(struct search *search, const struct error *error, const struct input_file *file) {
    explain_miss(search->from, error, file->path);
    search->has_missed = true;
}

// --- One program ---

static bool has_instruction(struct search *search, struct work *work, const struct found_module *found) {
    struct error error;
    const struct hlo_module *module = module_store_load(work, found, &error);
    if (!module) miss_program(search, &error, found->file);
    return module && oom_has_instruction(search->message, search->instruction, module, &work->arena);
}

static bool is_about(struct search *search, struct work *work, const struct found_module *found, int64_t distance) {
    if (search->name.size) return true;
    return search->instruction.size ? has_instruction(search, work, found) : distance <= ROUNDING_BYTES;
}

// --- Which is the best ---

static bool is_nearer(int64_t distance, int64_t best) {
    return best < 0 || distance < best;
}

static void take(struct search *search, const char *session, const struct input_file *file,
                 const struct xspace_program *program, int64_t distance) {
    search->told->session = session;
    search->told->file = file;
    search->told->program = program;
    search->best_distance = distance;
}

static void remember_near(struct search *search, const char *session, const struct xspace_program *program,
                          const struct memory_totals *totals, int64_t distance) {
    if (!is_nearer(distance, search->near_distance)) return;
    search->near_distance = distance;
    search->told->near_session = session;
    search->told->near_program = program;
    search->told->near_total_bytes = totals->total_bytes;
    search->told->near_size_bytes = oom_size_of(search->message, totals);
}

static void compare(struct search *search, struct work *work, const char *session, const struct found_module *found,
                    const struct memory_totals *totals) {
    int64_t distance = oom_size_distance(search->message, totals);
    bool is_near = search->is_size_free || oom_is_size_near(search->message, totals);
    bool is_it = totals->total_bytes != OOM_ABSENT && is_about(search, work, found, distance);
    if (distance == OOM_ABSENT) distance = 0;
    search->told->programs++;
    if (is_it && !is_near) remember_near(search, session, found->program, totals, distance);
    if (is_it && is_near && is_nearer(distance, search->best_distance))
        take(search, session, found->file, found->program, distance);
}

// What is loaded to look at a program is let go at once: it may be one of hundreds.
static void consider(struct search *search, const char *session, const struct input_file *file,
                     const struct xspace_program *program) {
    struct work work;
    struct found_module found;
    struct memory_totals totals;
    struct error error;
    work_init_for(&work, search->from->work);
    if (module_store_name(&work, file, program, &found, &error) && explain_totals_of(&work, &found, &totals, &error))
        compare(search, &work, session, &found, &totals);
    else
        miss_program(search, &error, file);
    work_free(&work);
}

// --- Sessions ---

static bool miss_session(struct explain_sessions *from, const struct error *error, const char *name) {
    explain_miss(from, error, name);
    return false;
}

// False: not to its end.
static bool read_modules(struct explain_sessions *from, struct explain_session *read) {
    struct session session;
    struct error error;
    struct session_place place = {.name = read->asked};
    if (!store_open_session(from->store, from->work, &place, STORE_LIST_SEEN, &session, &error))
        return miss_session(from, &error, read->asked);
    read->name = session.name;
    if (!module_list_read(from->work, &session, &read->modules, &error)) {
        read->modules.row_count = 0;
        return miss_session(from, &error, read->asked);
    }
    bool is_whole = true;
    for (size_t i = 0; i < read->modules.host_count; i++) {
        const struct module_host *host = &read->modules.hosts[i];
        if (host->error) is_whole = miss_session(from, host->error, host->file->path);
    }
    return is_whole;
}

// NULL without memory.
static const struct explain_session *read_session(struct explain_sessions *from, const char *name) {
    struct explain_session *read = arena_new(&from->work->arena, struct explain_session, 1);
    if (!read) return NULL;
    *read = (struct explain_session){.next = from->read, .asked = name, .name = name};
    from->read = read;
    read->is_whole = read_modules(from, read);
    return read;
}

const struct explain_session *explain_session_of(struct explain_sessions *from, const char *name) {
    for (const struct explain_session *known = from->read; known; known = known->next) {
        if (strcmp(known->asked, name) == 0) return known;
    }
    return read_session(from, name);
}

static bool is_named(const struct xspace_program *program, struct bytes name) {
    return !name.size || bytes_equal(program->name, name) || bytes_equal(program->module_name, name);
}

static void search_session(struct search *search, const char *name) {
    const struct explain_session *session = explain_session_of(search->from, name);
    search->has_missed = !session || !session->is_whole;
    for (size_t i = 0; session && i < session->modules.row_count; i++) {
        const struct module_row *row = &session->modules.rows[i];
        if (!is_named(row->program, search->name)) continue;
        if (explain_is_late(search->from)) return;
        consider(search, session->name, session->modules.hosts[row->hosts[0]].file, row->program);
    }
    search->told->sessions += !search->has_missed && !explain_is_late(search->from);
}

static bool is_settled(const struct search *search) {
    return search->told->program && search->best_distance <= ROUNDING_BYTES;
}

static bool is_session(const struct catalog *catalog, const char *name) {
    return name && catalog_find(catalog, bytes_of(name));
}

static void search_one(struct search *search, const char *name) {
    search->told->session_count = 1;
    search_session(search, name);
}

// Where the scan could not look may be sessions.
static void miss_left_out(struct explain_sessions *from, const struct catalog *catalog) {
    for (size_t i = 0; i < catalog->left_out_count; i++) {
        const struct input_remark *remark = &catalog->left_out[i];
        if (remark->is_fault) miss(from, remark->path, remark->reason);
    }
}

static void search_all(struct search *search) {
    struct error error;
    const char *logdir = store_logdir(search->from->store);
    if (!logdir) return search_one(search, STORE_SAMPLE_SESSION);
    const struct catalog *catalog = store_catalog(search->from->store, search->from->work, false, &error);
    if (!catalog) return explain_miss(search->from, &error, logdir);
    const char *first = is_session(catalog, search->preferred) ? search->preferred : NULL;
    search->told->session_count = catalog->session_count;
    miss_left_out(search->from, catalog);
    if (first) search_session(search, first);
    for (size_t i = 0; i < catalog->session_count; i++) {
        if (is_settled(search) || explain_is_late(search->from)) break;
        if (!first || strcmp(catalog->sessions[i].name, first) != 0) search_session(search, catalog->sessions[i].name);
    }
}

bool explain_search(struct explain_sessions *from, const struct explain_search_for *asked,
                    const struct oom_message *message, struct explain_search *told) {
    *told = (struct explain_search){0};
    const char *name = asked->module ? asked->module : message->module;
    if (message->memory_space && strcmp(message->memory_space, "hbm") != 0) return false;
    struct search search = {.from = from,
                            .message = message,
                            .preferred = asked->preferred,
                            .is_size_free = asked->session != NULL,
                            .told = told,
                            .best_distance = -1,
                            .near_distance = -1};
    if (name) search.name = bytes_of(name);
    if (!name) search.instruction = oom_blamed_instruction(message, &from->work->arena);
    if (!name && !search.instruction.size && message->needed_bytes == OOM_ABSENT) return false;
    told->has_begun = true;
    if (asked->session)
        search_one(&search, asked->session);
    else
        search_all(&search);
    told->is_cut_short = !is_settled(&search) && explain_is_late(from);
    return told->program != NULL;
}
