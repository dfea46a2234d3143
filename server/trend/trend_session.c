#include "server/trend/trend_session.h"

#include "analysis/base/growing_array.h"
#include "server/store/device_memory_store.h"
#include "server/store/module_list.h"
#include "server/text/known_names.h"
#include "server/text/utf8.h"

// Of programs of one name so many are weighed, those of the largest HLO; they are compiles of one function.
enum { CANDIDATES_MAX = 8 };

static void tell(struct work *work, struct trend_point *point, enum trend_state state, const struct error *error) {
    static const struct error no_memory = {ERROR_TOO_BIG, -1, "", "There is not enough memory for this session."};
    struct error *kept = arena_new(&work->arena, struct error, 1);
    if (kept) *kept = *error;
    point->state = state;
    point->reason = kept ? kept : &no_memory;
}

static void see(struct work *work, struct trend_seen *seen, struct bytes name) {
    for (uint32_t i = 0; i < seen->count; i++) {
        if (bytes_equal(seen->names[i], name)) return;
    }
    if (seen->count < TREND_NAMES_MAX) (void)growing_array_add(&work->arena, seen->names, seen->count, name);
}

static void take(struct trend_point *point, const struct trend_figures *figures, const char *host, struct bytes name) {
    if (point->figures && point->figures->peak_bytes >= figures->peak_bytes) return;
    point->state = TREND_READY;
    point->figures = figures;
    point->host = host;
    point->name = name;
    point->reason = NULL;
}

static bool is_host(const struct trend_question *question, const struct input_file *file) {
    return !question->host || utf8_same_text(bytes_of(file->host), question->host);
}

static bool open_named(struct store *store, struct work *work, const char *session, enum store_listing listing,
                       struct session *opened, struct error *error) {
    const struct session_place place = {.name = session};
    return store_open_session(store, work, &place, listing, opened, error);
}

// What the system would not show just now may have been the highest; what is damaged stays so, and is passed over.
static void note_refusal(const struct error *error, struct error *refused) {
    if (error && error->code == ERROR_UNREADABLE) *refused = *error;
}

static bool was_refused(struct work *work, struct trend_point *point, const struct error *refused) {
    if (refused->code == ERROR_NONE) return false;
    point->figures = NULL;
    tell(work, point, TREND_ERROR, refused);
    return true;
}

// --- Programs ---

struct bytes trend_module_name(struct bytes name) {
    size_t end = name.size;
    if (end < 3 || name.data[end - 1] != ')') return name;
    size_t at = end - 1;
    while (at > 0 && name.data[at - 1] >= '0' && name.data[at - 1] <= '9') at--;
    bool has_number = at < end - 1 && at > 1 && name.data[at - 1] == '(';
    return has_number ? (struct bytes){name.data, at - 1} : name;
}

static const struct input_file *file_of(const struct module_list *list, const struct module_row *row,
                                        const struct trend_question *question) {
    for (uint32_t i = 0; i < row->host_count; i++) {
        const struct input_file *file = list->hosts[row->hosts[i]].file;
        if (is_host(question, file)) return file;
    }
    return NULL;
}

static bool is_meant(const struct module_row *row, struct bytes subject) {
    return bytes_equal(trend_module_name(row->program->name), subject) ||
           bytes_equal(row->program->module_name, subject);
}

// The rows of the subject with the largest HLO, largest first.
static size_t choose_rows(const struct module_list *list, const struct trend_question *question, struct bytes subject,
                          const struct module_row *chosen[CANDIDATES_MAX], uint32_t *of) {
    size_t count = 0;
    for (size_t i = 0; i < list->row_count; i++) {
        const struct module_row *row = &list->rows[i];
        if (!is_meant(row, subject) || !file_of(list, row, question)) continue;
        ++*of;
        size_t at = count < CANDIDATES_MAX ? count++ : CANDIDATES_MAX;
        for (; at > 0 && chosen[at - 1]->program->size_bytes < row->program->size_bytes; at--) {
            if (at < CANDIDATES_MAX) chosen[at] = chosen[at - 1];
        }
        if (at < CANDIDATES_MAX) chosen[at] = row;
    }
    return count;
}

static void weigh(struct work *work, const struct trend_question *question, const struct input_file *file,
                  const struct module_row *row, struct trend_point *point, struct error *refused) {
    struct found_module found;
    struct error error;
    const struct trend_figures *figures = module_store_name(work, file, row->program, &found, &error)
                                              ? trend_figures_of_program(work, &found, question, &error)
                                              : NULL;
    const struct trend_figures *before = point->figures;
    if (!figures && !before) tell(work, point, TREND_ERROR, &error);
    if (!figures) return note_refusal(&error, refused);
    take(point, figures, file->host, row->program->name);
    if (point->figures != before) point->found = found;
}

static void miss_program(struct work *work, const struct trend_question *question, const struct module_list *list,
                         const struct trend_seen *seen, struct trend_point *point) {
    struct known_names known = {.count = 0};
    struct error error;
    for (size_t i = 0; i < list->host_count; i++) {  // a file that is cut may have lost it
        const struct module_host *host = &list->hosts[i];
        if (host->error && is_host(question, host->file)) return tell(work, point, TREND_ERROR, host->error);
    }
    for (uint32_t i = 0; i < seen->count; i++) known_names_add(&known, seen->names[i], &work->arena);
    const char *names = known_names_text(&known, KNOWN_NAMES_FEW, &work->arena);
    if (known.count == 1)
        error_set(&error, ERROR_NOT_FOUND, "The only module here is %.250s.", names);
    else if (known.count > 1)
        error_set(&error, ERROR_NOT_FOUND, "It is not among the %zu modules here: %.250s.", known.count, names);
    else
        error_set(&error, ERROR_NOT_FOUND, "No compiled program is here.");
    tell(work, point, TREND_ABSENT, &error);
}

static void read_program(struct store *store, struct work *work, const struct trend_question *question,
                         struct bytes subject, struct trend_point *point, struct trend_seen *seen) {
    struct session session;
    struct module_list list;
    struct error error, refused = {0};
    const struct module_row *chosen[CANDIDATES_MAX];
    if (!open_named(store, work, point->session, STORE_LIST_SEEN, &session, &error) ||
        !module_list_read(work, &session, &list, &error))
        return tell(work, point, TREND_ERROR, &error);
    for (size_t i = 0; i < list.row_count; i++) {
        if (file_of(&list, &list.rows[i], question)) see(work, seen, trend_module_name(list.rows[i].program->name));
    }
    for (size_t i = 0; i < list.host_count; i++) {
        if (is_host(question, list.hosts[i].file)) note_refusal(list.hosts[i].error, &refused);
    }
    size_t count = choose_rows(&list, question, subject, chosen, &point->of);
    for (size_t i = 0; i < count; i++)
        weigh(work, question, file_of(&list, chosen[i], question), chosen[i], point, &refused);
    if (was_refused(work, point, &refused)) return;
    if (count == 0) return miss_program(work, question, &list, seen, point);
    if (!point->figures || point->figures->peak_bytes || point->figures->total_bytes) return;
    error_set(&error, ERROR_NOT_FOUND, "%.*s has nothing in this memory space.",
              (int)(point->name.size < 160 ? point->name.size : 160), (const char *)point->name.data);
    point->figures = NULL;
    tell(work, point, TREND_ABSENT, &error);
}

static struct bytes largest_program(struct store *store, struct work *work, const struct trend_question *question,
                                    const char *name) {
    struct session session;
    struct module_list list;
    struct error ignored;
    const struct module_row *best = NULL;
    if (!open_named(store, work, name, STORE_LIST_SEEN, &session, &ignored) ||
        !module_list_read(work, &session, &list, &ignored))
        return BYTES("");
    for (size_t i = 0; i < list.row_count; i++) {
        bool is_larger = !best || list.rows[i].program->size_bytes > best->program->size_bytes;
        if (is_larger && file_of(&list, &list.rows[i], question)) best = &list.rows[i];
    }
    return best ? trend_module_name(best->program->name) : BYTES("");
}

// --- Memories of a profile ---

static void read_host(struct work *work, const struct session *session, size_t i, struct bytes subject,
                      struct trend_point *point, struct trend_seen *seen, struct error *refused) {
    struct error error;
    const struct input_file *file = file_store_look(work, session, i, &error);
    const struct trend_memories *memories = file ? trend_figures_of_profile(work, file, &error) : NULL;
    if (!memories && !point->figures) tell(work, point, TREND_ERROR, &error);
    if (!memories) note_refusal(&error, refused);
    for (uint32_t k = 0; memories && k < memories->count; k++) {
        struct bytes name = bytes_of(memories->list[k].memory_id);
        see(work, seen, name);
        if (!bytes_equal(name, subject)) continue;
        point->of++;
        take(point, &memories->list[k].figures, file->host, name);
    }
}

static void read_memory(struct store *store, struct work *work, const struct trend_question *question,
                        struct bytes subject, struct trend_point *point, struct trend_seen *seen) {
    struct session session;
    struct error error, refused = {0};
    if (!open_named(store, work, point->session, STORE_LIST_SEEN, &session, &error))
        return tell(work, point, TREND_ERROR, &error);
    for (size_t i = 0; i < session.files.host_count; i++) {
        if (is_host(question, &session.files.files[i])) read_host(work, &session, i, subject, point, seen, &refused);
    }
    if (was_refused(work, point, &refused)) return;
    if (point->state != TREND_PENDING) return;
    struct known_names known = {.count = 0};
    for (uint32_t i = 0; i < seen->count; i++) known_names_add(&known, seen->names[i], &work->arena);
    if (seen->count)
        error_set(&error, ERROR_NOT_FOUND, "It is not among the %zu memories here: %.250s.", known.count,
                  known_names_text(&known, KNOWN_NAMES_FEW, &work->arena));
    else
        error_set(&error, ERROR_NOT_FOUND, "No memory events are here.");
    tell(work, point, TREND_ABSENT, &error);
}

static struct bytes highest_memory(struct store *store, struct work *work, const struct trend_question *question,
                                   const char *name) {
    struct session session;
    struct error ignored;
    const struct trend_memory *best = NULL;
    if (!open_named(store, work, name, STORE_LIST_SEEN, &session, &ignored)) return BYTES("");
    for (size_t i = 0; i < session.files.host_count; i++) {
        if (!is_host(question, &session.files.files[i])) continue;
        const struct input_file *file = file_store_look(work, &session, i, &ignored);
        const struct trend_memories *memories = file ? trend_figures_of_profile(work, file, &ignored) : NULL;
        for (uint32_t k = 0; memories && k < memories->count; k++) {
            const struct trend_memory *memory = &memories->list[k];
            if (!best || memory->figures.peak_bytes > best->figures.peak_bytes) best = memory;
        }
    }
    return best ? bytes_of(best->memory_id) : BYTES("");
}

// --- Device memory profiles ---

static void read_arrays(struct store *store, struct work *work, struct trend_point *point) {
    struct session session;
    struct error error;
    const struct trend_figures *figures = NULL;
    const struct input_file *file = NULL;
    if (open_named(store, work, point->session, STORE_LIST_DEVICE_MEMORY, &session, &error))
        file = device_memory_store_find(&session, point->file, &work->arena, &error);
    if (file) figures = trend_figures_of_arrays(work, file, &error);
    if (!figures) return tell(work, point, TREND_ERROR, &error);
    point->of = 1;
    take(point, figures, "", bytes_of(point->file));
}

// --- Any ---

void trend_point_read(struct store *store, struct work *work, const struct trend_question *question,
                      struct bytes subject, struct trend_point *point, struct trend_seen *seen) {
    if (question->tool == TREND_PROGRAM) read_program(store, work, question, subject, point, seen);
    if (question->tool == TREND_PROFILE) read_memory(store, work, question, subject, point, seen);
    if (question->tool == TREND_DEVICE_MEMORY) read_arrays(store, work, point);
    bool was_hidden = !subject.size && seen->count > 0;  // a moment ago, when there seemed to be nothing to follow
    if (!was_hidden || point->state != TREND_ABSENT) return;
    point->state = TREND_PENDING;
    point->reason = NULL;
}

struct bytes trend_session_subject(struct store *store, struct work *work, const struct trend_question *question,
                                   const char *session) {
    if (question->tool == TREND_PROGRAM) return largest_program(store, work, question, session);
    if (question->tool == TREND_PROFILE) return highest_memory(store, work, question, session);
    return BYTES("device memory profiles");
}
