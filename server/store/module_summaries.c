#include "server/store/module_summaries.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/text/etag.h"
#include "server/text/output.h"

enum { SET_ARENA_LIMIT_BYTES = 64 << 20 };
static const size_t MODULE_ARENA_LIMIT_BYTES = (size_t)4 << 30;

struct summary_job {
    struct found_module found;
    struct input_file file;
    struct xspace_program program;
    struct module_summary result;
};

struct summary_set {
    char key[ETAG_BYTES];
    struct arena arena;
    struct summary_job *jobs;
    size_t job_count;
    size_t next_job;  // all before it are done, or being done
    int64_t asked_s;  // when it was last asked for; 0: free place
};

struct module_summaries {
    struct cache *cache;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_stopping;
    struct summary_set *busy;  // the worker is at one of its jobs
    struct summary_set sets[MODULE_SUMMARIES_SETS_MAX];
};

static const struct error too_many = {ERROR_TOO_BIG, -1, "",
                                      "The session holds too many programs to list their figures."};

static int64_t now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec + 1;
}

// --- The worker ---

enum { KEPT_MODULES_MAX = 2 };

static struct summary_set *next_set(struct module_summaries *summaries) {
    struct summary_set *best = NULL;
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) {
        struct summary_set *set = &summaries->sets[i];
        bool is_wanted = set->asked_s && now_s() - set->asked_s <= MODULE_SUMMARIES_PATIENCE_SECONDS;
        if (!is_wanted || set->next_job == set->job_count) continue;
        if (!best || set->asked_s >= best->asked_s) best = set;
    }
    return best;
}

static bool summarize_module(const struct hlo_module *module, struct work *work, const struct found_module *found,
                             struct memory_summary_list *spaces, struct error *error) {
    if (memory_summaries(module, &work->arena, spaces, error)) return true;
    return error_in_file(error, found->file->path, (int64_t)found->program->offset);
}

// The modules of a session of few go through the cache: the page opens one of them next, and the load serves both.
static bool summarize_kept(struct work *work, const struct found_module *found, struct memory_summary_list *spaces,
                           struct error *error) {
    const struct hlo_module *module = module_store_load(work, found, error);
    return module && summarize_module(module, work, found, spaces, error);
}

// The many others are loaded for their figures only, so that they do not push out what is in view.
static bool summarize_passing(struct work *work, const struct found_module *found, struct memory_summary_list *spaces,
                              struct error *error) {
    const struct hlo_module *module = module_store_peek(work, found);
    struct hlo_module own;
    cache_take_slot(work->cache);
    bool is_good = module || module_store_read(found, &work->arena, &own, error);
    is_good = is_good && summarize_module(module ? module : &own, work, found, spaces, error);
    cache_give_slot(work->cache);
    return is_good;
}

static struct module_summary good_result(struct arena *arena, const struct memory_summary_list *spaces) {
    struct memory_summary *kept = arena_new(arena, struct memory_summary, spaces->count + 1);
    if (!kept) return (struct module_summary){.state = MODULE_SUMMARY_ERROR, .error = &too_many};
    if (spaces->count) memcpy(kept, spaces->summaries, spaces->count * sizeof kept[0]);
    return (struct module_summary){MODULE_SUMMARY_READY, kept, spaces->count, NULL};
}

static struct module_summary error_result(struct arena *arena, const struct error *error) {
    struct module_summary result = {.state = MODULE_SUMMARY_ERROR, .error = &too_many};
    struct error *kept = arena_new(arena, struct error, 1);
    if (!kept) return result;
    *kept = *error;
    result.error = kept;
    return result;
}

// Does one job. The lock is held before and after.
static void do_job(struct module_summaries *summaries, struct summary_set *set) {
    struct summary_job *job = &set->jobs[set->next_job++];
    summaries->busy = set;
    pthread_mutex_unlock(&summaries->lock);
    struct work work;
    work_init(&work, summaries->cache);
    work.arena.limit_bytes = MODULE_ARENA_LIMIT_BYTES;
    struct memory_summary_list spaces = {0};
    struct error error;
    bool is_kept = set->job_count <= KEPT_MODULES_MAX;
    bool is_good = is_kept ? summarize_kept(&work, &job->found, &spaces, &error)
                           : summarize_passing(&work, &job->found, &spaces, &error);
    pthread_mutex_lock(&summaries->lock);
    job->result = is_good ? good_result(&set->arena, &spaces) : error_result(&set->arena, &error);
    summaries->busy = NULL;
    pthread_mutex_unlock(&summaries->lock);
    work_free(&work);
    pthread_mutex_lock(&summaries->lock);
}

static void *run_worker(void *context) {
    struct module_summaries *summaries = context;
    pthread_mutex_lock(&summaries->lock);
    while (!summaries->is_stopping) {
        struct summary_set *set = next_set(summaries);
        if (set)
            do_job(summaries, set);
        else
            pthread_cond_wait(&summaries->wake, &summaries->lock);
    }
    pthread_mutex_unlock(&summaries->lock);
    return NULL;
}

struct module_summaries *module_summaries_new(struct cache *cache) {
    struct module_summaries *summaries = calloc(1, sizeof *summaries);
    if (!summaries) return NULL;
    summaries->cache = cache;
    pthread_mutex_init(&summaries->lock, NULL);
    pthread_cond_init(&summaries->wake, NULL);
    if (pthread_create(&summaries->worker, NULL, run_worker, summaries) == 0) return summaries;
    free(summaries);
    return NULL;
}

static void set_clear(struct summary_set *set) {
    if (set->asked_s) arena_free(&set->arena);
    *set = (struct summary_set){.asked_s = 0};
}

void module_summaries_free(struct module_summaries *summaries) {
    if (!summaries) return;
    pthread_mutex_lock(&summaries->lock);
    summaries->is_stopping = true;
    pthread_cond_signal(&summaries->wake);
    pthread_mutex_unlock(&summaries->lock);
    pthread_join(summaries->worker, NULL);
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) set_clear(&summaries->sets[i]);
    pthread_cond_destroy(&summaries->wake);
    pthread_mutex_destroy(&summaries->lock);
    free(summaries);
}

// --- Asking ---

// Names the versions of all files and the rows: equal keys, equal rows.
static bool make_key(struct work *work, const struct module_list *list, char key[ETAG_BYTES], struct error *error) {
    struct output text;
    output_init(&text, OUTPUT_LIMIT_BYTES);
    for (size_t i = 0; i < list->host_count; i++) {
        struct error gone;
        const char *file_key = module_store_file_key(work, list->hosts[i].file, &gone);
        output_append(&text, bytes_of(file_key ? file_key : "gone"));
        output_append(&text, list->hosts[i].error ? BYTES("-\n") : BYTES("+\n"));
    }
    bool is_good = !text.failed || work_out_of_memory(error);
    etag_of(output_bytes(&text), key);
    output_free(&text);
    return is_good;
}

static bool copy_job(struct work *work, struct arena *arena, const struct module_list *list,
                     const struct module_row *row, struct summary_job *job) {
    struct error error;
    const struct input_file *file = list->hosts[row->hosts[0]].file;
    job->file = *file;
    job->program = *row->program;
    if (!module_store_name(work, file, row->program, &job->found, &error)) {
        job->result = error_result(arena, &error);
        job->found.key = "";
    }
    job->file.path = arena_string(arena, bytes_of(file->path));
    job->file.name = job->file.host = NULL;
    job->program.name = job->program.module_name = (struct bytes){0};
    job->found.key = arena_string(arena, bytes_of(job->found.key));
    job->found.file = &job->file;
    job->found.program = &job->program;
    return job->file.path && job->found.key;
}

static bool fill_set(struct work *work, const struct module_list *list, struct summary_set *set) {
    arena_init(&set->arena, SET_ARENA_LIMIT_BYTES);
    set->asked_s = now_s();
    set->jobs = arena_new(&set->arena, struct summary_job, list->row_count + 1);
    if (!set->jobs) return false;
    for (size_t i = 0; i < list->row_count; i++) {
        if (!copy_job(work, &set->arena, list, &list->rows[i], &set->jobs[i])) return false;
    }
    set->job_count = list->row_count;
    return true;
}

// The place asked for longest ago, but not the one the worker is at.
static struct summary_set *oldest_set(struct module_summaries *summaries) {
    struct summary_set *oldest = NULL;
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) {
        struct summary_set *set = &summaries->sets[i];
        if (set != summaries->busy && (!oldest || set->asked_s < oldest->asked_s)) oldest = set;
    }
    return oldest;
}

static struct summary_set *find_set(struct module_summaries *summaries, const char *key) {
    for (size_t i = 0; i < MODULE_SUMMARIES_SETS_MAX; i++) {
        if (summaries->sets[i].asked_s && strcmp(summaries->sets[i].key, key) == 0) return &summaries->sets[i];
    }
    return NULL;
}

static struct summary_set *add_set(struct module_summaries *summaries, struct work *work,
                                   const struct module_list *list, const char *key) {
    struct summary_set *set = oldest_set(summaries);
    set_clear(set);
    memcpy(set->key, key, sizeof set->key);
    if (fill_set(work, list, set)) return set;
    set_clear(set);
    return NULL;
}

static bool copy_error(struct arena *arena, struct module_summary *row) {
    if (!row->error) return true;
    struct error *copy = arena_new(arena, struct error, 1);
    if (copy) *copy = *row->error;
    row->error = copy;
    return copy != NULL;
}

static bool copy_results(struct arena *arena, const struct summary_set *set, struct module_summary *rows) {
    for (size_t i = 0; i < set->job_count; i++) {
        const struct module_summary *from = &set->jobs[i].result;
        rows[i] = *from;
        struct memory_summary *spaces = arena_new(arena, struct memory_summary, from->space_count + 1);
        if (!spaces) return false;
        if (from->space_count) memcpy(spaces, from->spaces, from->space_count * sizeof spaces[0]);
        rows[i].spaces = spaces;
        if (!copy_error(arena, &rows[i])) return false;
    }
    return true;
}

static bool ask_locked(struct module_summaries *summaries, struct work *work, const struct module_list *list,
                       const char *key, struct module_summary *rows, struct error *error) {
    struct summary_set *set = find_set(summaries, key);
    if (!set) set = add_set(summaries, work, list, key);
    if (!set || set->job_count != list->row_count) {
        for (size_t i = 0; i < list->row_count; i++)
            rows[i] = (struct module_summary){MODULE_SUMMARY_ERROR, NULL, 0, &too_many};
        return true;
    }
    set->asked_s = now_s();
    pthread_cond_signal(&summaries->wake);
    return copy_results(&work->arena, set, rows) || work_out_of_memory(error);
}

bool module_summaries_ask(struct module_summaries *summaries, struct work *work, const struct module_list *list,
                          const struct module_summary **rows, struct error *error) {
    char key[ETAG_BYTES];
    struct module_summary *mine = arena_new(&work->arena, struct module_summary, list->row_count + 1);
    *rows = mine;
    if (!mine) return work_out_of_memory(error);
    if (!make_key(work, list, key, error)) return false;
    pthread_mutex_lock(&summaries->lock);
    bool is_good = ask_locked(summaries, work, list, key, mine, error);
    pthread_mutex_unlock(&summaries->lock);
    return is_good;
}
