#include "server/store/module_summaries.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"
#include "analysis/hlo/program_load.h"
#include "server/text/etag.h"
#include "server/text/output.h"

enum { KEY_DIGITS = 32 };

struct summary_row {
    struct module_summary summary;
    uint64_t number;  // it was settled as the first, second, ... of the set; 0: pending
};

struct summary_set {
    atomic_uint users;
    char key[ETAG_BYTES];  // of the versions of all files: equal keys, equal lists
    struct work work;      // pins what the list is made of; its arena has the rows' figures as well
    struct session session;
    struct module_list list;
    // The lock is held for what follows.
    struct file_version folder;  // of the session, when it was listed last
    struct summary_row *rows;
    size_t next_row;   // all before it are settled, or being worked at
    uint64_t settled;  // how many are
    int64_t asked_s;   // when it was last asked for
    bool is_outdated;  // the worker found a file to be of another version
    bool has_refusal;  // the system would not show a file just now: whoever asks when that was told finds a new set
};

struct module_summaries {
    struct cache *cache;
    struct store *store;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_stopping;
    struct summary_set *sets[MODULE_SUMMARIES_SETS_MAX];  // NULL: a free place
};

static const struct error too_many = {ERROR_TOO_BIG, -1, "",
                                      "The session holds too many programs to list their figures."};

// --- The figures of one program ---

struct summary_recipe {
    const struct xspace_program *program;
    const struct hlo_module *module;  // NULL: to be loaded, and dropped
};

static bool summarize(const struct filling *from, const struct hlo_module *module, struct arena *scratch,
                      struct memory_summary_list *list, struct error *error) {
    const struct summary_recipe *recipe = from->of;
    struct memory_summary_list found;
    if (!memory_summaries(module, scratch, &found, error))
        return error_in_file(error, from->file->path, (int64_t)recipe->program->offset);
    list->count = found.count;
    list->summaries = arena_new(from->arena, struct memory_summary, found.count + 1);
    if (!list->summaries) return work_out_of_memory(error);
    if (found.count) memcpy(list->summaries, found.summaries, found.count * sizeof found.summaries[0]);
    return true;
}

static bool fill_summary(const struct filling *from, void *thing, struct error *error) {
    const struct summary_recipe *recipe = from->of;
    struct arena scratch;
    struct hlo_module loaded;
    arena_init(&scratch, (size_t)4 << 30);
    bool is_good = recipe->module || program_load(from->file, recipe->program, from->source, &scratch, &loaded, error);
    is_good = is_good && summarize(from, recipe->module ? recipe->module : &loaded, &scratch, thing, error);
    arena_free(&scratch);
    return is_good;
}

static const struct stored_kind summary_kind = {.name = "summary",
                                                .thing_bytes = sizeof(struct memory_summary_list),
                                                .arena_limit_bytes = 1 << 20,
                                                .fill = fill_summary};

// The modules of a session of few go through the cache: the page opens one of them next, and the load serves both. The
// many others are loaded for their figures only, so that they do not push out what is in view.
static const struct memory_summary_list *summary_of(struct work *work, const struct found_module *found, bool is_kept,
                                                    struct error *error) {
    struct summary_recipe recipe = {found->program, is_kept ? module_store_load(work, found, error) : NULL};
    if (is_kept && !recipe.module) return NULL;
    const char *key = arena_printf(&work->arena, "%s of %s", summary_kind.name, found->key);
    if (!key) work_out_of_memory(error);
    return key ? file_store_get(work, &summary_kind, key, found->file, &recipe, error) : NULL;
}

// --- The worker ---

enum { KEPT_MODULES_MAX = 2 };

static void set_release(void *thing) {
    struct summary_set *set = thing;
    if (!set || atomic_fetch_sub(&set->users, 1) != 1) return;
    work_free(&set->work);
    free(set);
}

static struct summary_set *next_set(struct module_summaries *summaries) {
    struct summary_set *best = NULL;
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) {
        struct summary_set *set = summaries->sets[i];
        if (!set || set->next_row == set->list.row_count) continue;
        if (steady_ms() / 1000 - set->asked_s > MODULE_SUMMARIES_PATIENCE_SECONDS) continue;
        if (!best || set->asked_s >= best->asked_s) best = set;
    }
    return best;
}

static struct module_summary good_result(struct arena *arena, const struct memory_summary_list *spaces) {
    struct memory_summary *kept = arena_new(arena, struct memory_summary, spaces->count + 1);
    if (!kept) return (struct module_summary){.state = MODULE_SUMMARY_ERROR, .error = &too_many};
    if (spaces->count) memcpy(kept, spaces->summaries, spaces->count * sizeof kept[0]);
    return (struct module_summary){MODULE_SUMMARY_READY, kept, spaces->count, NULL};
}

static struct module_summary error_result(struct arena *arena, const struct error *error) {
    struct error *kept = arena_new(arena, struct error, 1);
    if (kept) *kept = *error;
    return (struct module_summary){.state = MODULE_SUMMARY_ERROR, .error = kept ? kept : &too_many};
}

// Does one row. The lock is held before and after.
static void do_row(struct module_summaries *summaries, struct summary_set *set) {
    struct summary_row *row = &set->rows[set->next_row];
    const struct module_row *program = &set->list.rows[set->next_row++];
    const struct input_file *file = set->list.hosts[program->hosts[0]].file;
    struct work work;
    struct found_module found;
    struct error error;
    atomic_fetch_add(&set->users, 1);
    pthread_mutex_unlock(&summaries->lock);
    struct reading reading;  // tells whether it waits for a slow disk
    reading_init(&reading);
    work_init(&work, summaries->cache);
    work.reading = &reading;
    const struct memory_summary_list *spaces = NULL;
    uint64_t before = memory_refusals();
    if (module_store_name(&work, file, program->program, &found, &error))
        spaces = summary_of(&work, &found, set->list.row_count <= KEPT_MODULES_MAX, &error);
    bool outdated = !spaces && file_store_has_changed(file);
    pthread_mutex_lock(&summaries->lock);
    row->summary = spaces ? good_result(&set->work.arena, spaces) : error_result(&set->work.arena, &error);
    row->number = ++set->settled;
    set->is_outdated |= outdated || memory_was_refused(before, &error);
    set->has_refusal |= !spaces && error.code == ERROR_UNREADABLE;
    pthread_mutex_unlock(&summaries->lock);
    work_free(&work);
    set_release(set);
    pthread_mutex_lock(&summaries->lock);
}

static void *run_worker(void *context) {
    struct module_summaries *summaries = context;
    pthread_mutex_lock(&summaries->lock);
    while (!summaries->is_stopping) {
        struct summary_set *set = next_set(summaries);
        if (set)
            do_row(summaries, set);
        else
            pthread_cond_wait(&summaries->wake, &summaries->lock);
    }
    pthread_mutex_unlock(&summaries->lock);
    return NULL;
}

struct module_summaries *module_summaries_new(struct cache *cache, struct store *store) {
    struct module_summaries *summaries = calloc(1, sizeof *summaries);
    if (!summaries) return NULL;
    summaries->cache = cache;
    summaries->store = store;
    pthread_mutex_init(&summaries->lock, NULL);
    pthread_cond_init(&summaries->wake, NULL);
    if (pthread_create(&summaries->worker, NULL, run_worker, summaries) == 0) return summaries;
    free(summaries);
    return NULL;
}

void module_summaries_free(struct module_summaries *summaries) {
    if (!summaries) return;
    pthread_mutex_lock(&summaries->lock);
    summaries->is_stopping = true;
    pthread_cond_signal(&summaries->wake);
    pthread_mutex_unlock(&summaries->lock);
    pthread_join(summaries->worker, NULL);
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) set_release(summaries->sets[i]);
    pthread_cond_destroy(&summaries->wake);
    pthread_mutex_destroy(&summaries->lock);
    free(summaries);
}

// --- Making a set ---

static bool make_key(struct summary_set *set, struct error *error) {
    struct output text;
    bool is_good = true;
    output_init(&text, OUTPUT_LIMIT_BYTES);
    for (size_t i = 0; i < set->list.host_count && is_good; i++) {
        const struct module_host *host = &set->list.hosts[i];
        const char *file_key = file_store_key(&set->work, host->error ? "-" : "+", host->file, error);
        is_good = file_key != NULL;
        if (is_good) output_append(&text, bytes_of(file_key));
        output_append_char(&text, '\n');
    }
    is_good = is_good && (!text.failed || work_out_of_memory(error));
    etag_of(output_bytes(&text), set->key);
    output_free(&text);
    return is_good;
}

static bool fill_set(struct module_summaries *summaries, const struct session_place *place, struct summary_set *set,
                     struct error *error) {
    if (!store_open_session(summaries->store, &set->work, place, STORE_LIST_ANEW, &set->session, error)) return false;
    if (!module_list_read(&set->work, &set->session, &set->list, error)) return false;
    set->folder = set->session.version;
    set->rows = arena_new(&set->work.arena, struct summary_row, set->list.row_count + 1);
    return set->rows ? make_key(set, error) : work_out_of_memory(error);
}

static struct summary_set *new_set(struct module_summaries *summaries, const struct work *asker,
                                   const struct session_place *place, struct error *error) {
    uint64_t before = memory_refusals();
    struct summary_set *set = memory_or_refusal(calloc(1, sizeof *set));
    if (!set) {
        work_out_of_memory(error);
        return NULL;
    }
    atomic_init(&set->users, 1);
    work_init_for(&set->work, asker);
    bool is_good = fill_set(summaries, place, set, error);
    set->work.reading = NULL;  // it outlives whoever asked
    if (!memory_was_refused(before, error) && is_good) return set;
    set_release(set);
    return NULL;
}

// --- Asking (the lock is held) ---

static struct summary_set *find_set(const struct module_summaries *summaries, const char *digits) {
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) {
        struct summary_set *set = summaries->sets[i];
        if (set && !set->is_outdated && strncmp(set->key + 1, digits, KEY_DIGITS) == 0) return set;
    }
    return NULL;
}

// The set that was asked for longest ago makes room; the caller releases it without the lock.
static struct summary_set *add_set(struct module_summaries *summaries, struct summary_set *set) {
    struct summary_set **oldest = &summaries->sets[0];
    for (size_t i = 1; i < MODULE_SUMMARIES_SETS_MAX && *oldest; i++) {
        struct summary_set **place = &summaries->sets[i];
        if (!*place || (*place)->asked_s < (*oldest)->asked_s) oldest = place;
    }
    struct summary_set *dropped = *oldest;
    *oldest = set;
    return dropped;
}

// One more user of the set: the work.
static bool tell(struct module_summaries *summaries, struct work *work, struct summary_set *set, uint64_t since,
                 bool is_part, struct module_figures *figures) {
    size_t count = set->list.row_count, told = 0;
    struct module_summary *rows = arena_new(&work->arena, struct module_summary, count + 1);
    struct module_row *programs = is_part ? arena_new(&work->arena, struct module_row, count + 1) : set->list.rows;
    atomic_fetch_add(&set->users, 1);
    if (!work_defer(work, set_release, set) || !rows || !programs) return false;
    for (size_t i = 0; i < count; i++) {
        if (is_part && set->rows[i].number <= since) continue;
        if (is_part) programs[told] = set->list.rows[i];
        rows[told++] = set->rows[i].summary;
    }
    *figures = (struct module_figures){.session = set->session.name,
                                       .list = {set->list.hosts, set->list.host_count, programs, told},
                                       .rows = rows,
                                       .is_complete = set->settled == count};
    set->is_outdated |= set->has_refusal && figures->is_complete;
    figures->version = arena_printf(&work->arena, "%.*s-%" PRIu64, KEY_DIGITS, set->key + 1, set->settled);
    set->asked_s = steady_ms() / 1000;
    pthread_cond_signal(&summaries->wake);
    return figures->version != NULL;
}

bool module_summaries_ask(struct module_summaries *summaries, struct work *work, const struct session_place *place,
                          struct module_figures *figures, struct error *error) {
    struct summary_set *made = new_set(summaries, work, place, error), *dropped = made;
    if (!made) return false;
    pthread_mutex_lock(&summaries->lock);
    struct summary_set *set = find_set(summaries, made->key + 1);
    if (set)
        set->folder = made->folder;
    else
        dropped = add_set(summaries, set = made);
    bool is_good = tell(summaries, work, set, 0, false, figures) || work_out_of_memory(error);
    pthread_mutex_unlock(&summaries->lock);
    set_release(dropped);
    return is_good;
}

static bool read_settled(const char *since, uint64_t *settled) {
    if (strnlen(since, KEY_DIGITS) < KEY_DIGITS || since[KEY_DIGITS] != '-') return false;
    const char *digits = since + KEY_DIGITS + 1;
    char *end;
    errno = 0;
    *settled = strtoull(digits, &end, 10);
    return *digits >= '0' && *digits <= '9' && *end == '\0' && errno == 0;
}

bool module_summaries_changed(struct module_summaries *summaries, struct work *work, const struct session_place *place,
                              const char *since, struct module_figures *figures) {
    struct session session;
    struct error ignored;
    uint64_t settled;
    if (!read_settled(since, &settled)) return false;
    if (!store_open_session(summaries->store, work, place, STORE_LIST_NOTHING, &session, &ignored)) return false;
    pthread_mutex_lock(&summaries->lock);
    struct summary_set *set = find_set(summaries, since);
    bool is_good = set && file_version_equal(&set->folder, &session.version) && settled <= set->settled &&
                   tell(summaries, work, set, settled, true, figures);
    pthread_mutex_unlock(&summaries->lock);
    return is_good;
}
