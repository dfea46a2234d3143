#include "server/trend/trend.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analysis/base/growing_array.h"
#include "analysis/base/steady_clock.h"
#include "server/store/work_each.h"
#include "server/trend/session_time.h"
#include "server/trend/trend_session.h"

// --- Points in order of time ---

static int by_time(const void *left, const void *right) {
    const struct trend_point *a = left, *b = right;
    if (a->time_s != b->time_s) return a->time_s < b->time_s ? -1 : 1;
    int order = strcmp(a->session, b->session);
    return order || !a->file || !b->file ? order : strcmp(a->file, b->file);
}

static bool add_point(struct trend *trend, const char *session, const char *file, int64_t modified_s) {
    struct trend_point point = {.session = session, .file = file, .time_s = modified_s, .host = ""};
    if (!file) point.is_time_of_name = session_time_of_name(session, &point.time_s);
    return growing_array_add(&trend->work->arena, trend->points, trend->count, point);
}

static bool add_broken(struct trend *trend, const char *session, const char *file, int64_t modified_s,
                       const struct error *error) {
    struct error *reason = arena_new(&trend->work->arena, struct error, 1);
    if (!reason || !add_point(trend, session, file, modified_s)) return false;
    *reason = *error;
    trend->points[trend->count - 1].state = TREND_ERROR;
    trend->points[trend->count - 1].reason = reason;
    return true;
}

// A session that is still being written is no point yet, but its place is told.
static bool add_pending(struct trend *trend, const struct catalog *catalog) {
    for (size_t i = 0; i < catalog->pending_count; i++) {
        const struct catalog_session *session = &catalog->pending_sessions[i];
        struct error reason;
        error_in(&reason, ERROR_TRUNCATED, catalog->pending[i].path, ERROR_WHOLE_FILE, "%.400s",
                 catalog->pending[i].reason);
        if (!add_broken(trend, session->name, NULL, session->version.modified_s, &reason)) return false;
    }
    return true;
}

static bool list_sessions(struct trend *trend, const struct catalog *catalog) {
    for (size_t i = 0; i < catalog->session_count; i++) {
        const struct catalog_session *session = &catalog->sessions[i];
        if (!add_point(trend, session->name, NULL, session->version.modified_s)) return false;
    }
    return add_pending(trend, catalog);
}

// A file that cannot be looked at has the time of its folder.
static bool list_file(struct trend *trend, const struct session *session, const struct catalog_session *of, size_t i) {
    struct error error;
    const struct input_file *now = file_store_look(trend->work, session, i, &error);
    if (now) return add_point(trend, of->name, now->name, now->version.modified_s);
    return add_broken(trend, of->name, session->files.files[i].name, of->version.modified_s, &error);
}

static bool list_files(struct store *store, struct trend *trend, const struct catalog_session *of) {
    const struct session_place place = {.name = of->name};
    struct session session;
    struct error error;
    if (!store_open_session(store, trend->work, &place, STORE_LIST_DEVICE_MEMORY, &session, &error))
        return add_broken(trend, of->name, NULL, of->version.modified_s, &error);
    bool is_good = true;
    for (size_t i = 0; is_good && i < session.files.file_count; i++) is_good = list_file(trend, &session, of, i);
    return is_good;
}

static bool list_device_memory(struct store *store, struct trend *trend, const struct catalog *catalog) {
    bool is_good = true;
    for (size_t i = 0; is_good && i < catalog->device_memory_count; i++)
        is_good = list_files(store, trend, &catalog->device_memory[i]);
    for (size_t i = 0; is_good && i < catalog->session_count; i++) {
        if (catalog->sessions[i].may_hold_device_memory) is_good = list_files(store, trend, &catalog->sessions[i]);
    }
    return is_good;
}

static bool note_unlisted(struct trend *trend, const struct catalog *catalog) {
    bool is_good = true;
    for (size_t i = 0; is_good && i < catalog->left_out_count; i++) {
        if (!catalog->left_out[i].is_fault) continue;
        is_good = growing_array_add(&trend->work->arena, trend->unlisted, trend->unlisted_count, catalog->left_out[i]);
    }
    return is_good;
}

static bool list_points(struct store *store, struct trend *trend, const struct catalog *catalog) {
    bool is_good = trend->question.tool == TREND_DEVICE_MEMORY ? list_device_memory(store, trend, catalog)
                                                               : list_sessions(trend, catalog);
    if (trend->count) qsort(trend->points, trend->count, sizeof *trend->points, by_time);
    uint32_t last = trend->question.last;
    trend->left_out = last && trend->count > last ? trend->count - last : 0;
    if (trend->left_out) trend->points += trend->left_out;
    trend->count -= trend->left_out;
    return is_good && note_unlisted(trend, catalog);
}

// --- Reading ---

struct look {
    struct store *store;
    struct trend *trend;
    int64_t ends_ms;  // when the patience does; below zero: never
    size_t loads;     // of the cache, when it began
    atomic_size_t done;
    struct trend_seen *seen;
};

// Each question gets on by something, however short the patience: else a slow place would never be read.
static bool is_over(const struct look *look) {
    if (look->ends_ms < 0 || steady_ms() < look->ends_ms) return false;
    return cache_stats_read(look->trend->work->cache).loads > look->loads;
}

// What is kept of a program lies in what was free beside its large blocks, which the next ones then do not fit: without
// this a thousand sessions hold a gigabyte of holes.
enum { POINTS_BETWEEN_TRIMS = 16 };

static void give_back_holes(const struct look *look) {
#ifdef __GLIBC__
    if (cache_stats_read(look->trend->work->cache).loads > look->loads) malloc_trim(0);
#else
    (void)look;
#endif
}

static void read_point(struct work *mine, void *context, size_t turn) {
    struct look *look = context;
    struct trend *trend = look->trend;
    const struct trend_question *question = &trend->question;
    size_t at = trend->count - 1 - turn;  // the newest first
    if (trend->points[at].state != TREND_PENDING || is_over(look)) return;
    trend_point_read(look->store, mine, question, trend->subject, &trend->points[at], &look->seen[at]);
    size_t done = atomic_fetch_add(&look->done, 1) + 1;
    if (done % POINTS_BETWEEN_TRIMS == 0) give_back_holes(look);
    if (question->tell) question->tell(question->context, done, trend->count);
}

static struct bytes choose_subject(struct store *store, struct trend *trend) {
    const struct trend_question *question = &trend->question;
    if (question->tool == TREND_PROGRAM && question->subject) return trend_module_name(bytes_of(question->subject));
    if (question->subject) return bytes_of(question->subject);
    for (uint32_t i = trend->count; i > 0; i--) {
        if (trend->points[i - 1].state != TREND_PENDING) continue;
        struct bytes name = trend_session_subject(store, trend->work, question, trend->points[i - 1].session);
        if (name.size) return name;
    }
    return BYTES("");
}

// --- What there is to ask about ---

static int by_sessions(const void *left, const void *right) {
    const struct trend_name *a = left, *b = right;
    if (a->sessions != b->sessions) return a->sessions > b->sessions ? -1 : 1;
    return bytes_compare(a->name, b->name);
}

static bool count_names(struct trend *trend, const struct trend_seen *seen) {
    struct arena *arena = &trend->work->arena;
    struct string_table numbers;
    uint32_t count = 0;
    if (!string_table_init(&numbers, arena)) return false;
    for (uint32_t i = 0; i < trend->count; i++) {
        for (uint32_t k = 0; k < seen[i].count; k++) {
            uint32_t number = string_table_put(&numbers, seen[i].names[k]);
            if (number == 0) continue;
            if (number > count && !growing_array_add(arena, trend->names, count, (struct trend_name){.sessions = 0}))
                return false;
            trend->names[number - 1].name = seen[i].names[k];
            trend->names[number - 1].sessions++;
        }
    }
    if (count) qsort(trend->names, count, sizeof *trend->names, by_sessions);
    trend->has_more_names = count > TREND_NAMES_MAX;
    trend->name_count = count > TREND_NAMES_MAX ? TREND_NAMES_MAX : count;
    return !numbers.has_failed;
}

static bool gather(struct trend *trend, const struct trend_seen *seen) {
    trend->figures = arena_new(&trend->work->arena, const struct trend_figures *, (size_t)trend->count + 1);
    if (!trend->figures) return false;
    for (uint32_t i = 0; i < trend->count; i++) {
        trend->figures[i] = trend->points[i].figures;
        trend->ready_count += trend->points[i].state == TREND_READY;
        trend->pending_count += trend->points[i].state == TREND_PENDING;
    }
    return count_names(trend, seen);
}

// --- The whole ---

bool trend_read(struct store *store, struct work *work, const struct trend_question *question, struct trend *trend,
                struct error *error) {
    *trend = (struct trend){.question = *question, .work = work};
    struct look look = {.store = store, .trend = trend, .ends_ms = -1, .loads = cache_stats_read(work->cache).loads};
    if (question->patience_ms >= 0) look.ends_ms = steady_ms() + question->patience_ms;
    const struct catalog *catalog = store_catalog(store, work, true, error);
    if (!catalog) return false;
    if (!list_points(store, trend, catalog)) return work_out_of_memory(error);
    trend->subject = choose_subject(store, trend);
    look.seen = arena_new(&work->arena, struct trend_seen, (size_t)trend->count + 1);
    if (!look.seen) return work_out_of_memory(error);
    if (!work_each(work, read_point, &look, trend->count)) return work_out_of_memory(error);
    return gather(trend, look.seen) || work_out_of_memory(error);
}
