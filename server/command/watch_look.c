#include "server/command/watch_look.h"

#include <time.h>

#include "server/command/watch_figures.h"
#include "server/store/device_memory_store.h"
#include "server/store/module_list.h"
#include "server/store/profile_store.h"
#include "server/store/trace_store.h"

// A session while it is looked at.
struct looked {
    struct watcher *watcher;
    const struct catalog_session *found;
    struct work work;
    bool is_waiting;  // a file of it is not whole yet
};

// --- What is told ---

void watch_complain(struct watcher *watcher, const struct error *error) {
    int64_t key = watch_key_of_error(error);
    struct arena scratch;
    watcher->has_errors = true;
    if (watch_knows(&watcher->seen, key)) return;
    watch_remember(&watcher->seen, key);
    arena_init(&scratch, 0);
    struct report_errors errors = {.arena = &scratch};
    report_errors_add(&errors, error);
    report_errors_print(&errors);
    arena_free(&scratch);
}

static void tell(struct watcher *watcher, struct watch_line *line) {
    const struct watch_options *options = watcher->options;
    const char *problem;
    int64_t key = watch_key_of_line(line);
    if (watch_knows(&watcher->seen, key)) return;
    watch_remember(&watcher->seen, key);
    if (options->capacity_bytes) line->capacity_bytes = options->capacity_bytes;
    if (options->fail_over_bytes != WATCH_ANY_SIZE && line->peak_bytes > options->fail_over_bytes)
        line->limit_bytes = options->fail_over_bytes;
    watcher->is_over |= line->limit_bytes > 0;
    if (options->format == FORMAT_JSON)
        watch_line_write_json(line, &watcher->sink.output);
    else
        watch_line_write_text(line, &watcher->sink.output);
    if (!report_sink_finish(&watcher->sink, &problem)) watcher->sink.is_closed = true;
}

static struct watch_line line_of(const struct looked *looked, enum watch_kind kind, const struct input_file *file) {
    return (struct watch_line){.kind = kind,
                               .written_s = file->version.modified_s,
                               .session = bytes_of(looked->found->name),
                               .host = file->kind == PROFILE_FILE_XPLANE ? bytes_of(file->host) : (struct bytes){0},
                               .file = bytes_of(file->name),
                               .host_count = 1};
}

// --- What is not whole yet ---

static bool may_still_grow(const struct input_file *file, const struct error *error) {
    int64_t age_s = (int64_t)time(NULL) - file->version.modified_s;
    bool is_fresh = age_s > -CATALOG_WRITING_SECONDS && age_s < CATALOG_WRITING_SECONDS;
    return is_fresh && (error->code == ERROR_TRUNCATED || error->code == ERROR_NOT_FOUND);
}

// False: the file is left for the next look.
static bool take_error(struct looked *looked, const struct input_file *file, const struct error *error) {
    bool is_growing = !looked->watcher->options->is_once && may_still_grow(file, error);
    if (is_growing) {
        looked->is_waiting = true;
        return false;
    }
    struct error placed = *error;
    error_in_file(&placed, file->path, 0);
    watch_complain(looked->watcher, &placed);
    return true;
}

// --- Programs ---

// False: its file is left for the next look.
static bool look_at_program(struct looked *looked, const struct module_list *list, const struct module_row *row) {
    const struct input_file *file = list->hosts[row->hosts[0]].file;
    struct watch_line line = line_of(looked, WATCH_PROGRAM, file);
    struct work work;
    struct error error;
    bool is_empty, is_whole = true;
    work_init_for(&work, &looked->work);
    line.name = row->program->name;
    line.host_count = row->host_count;
    line.capacity_bytes = watch_capacity_of(&work, file);
    if (!watch_program_figures(&work, file, row->program, &line, &is_empty, &error))
        is_whole = take_error(looked, file, &error);
    else if (!is_empty)
        tell(looked->watcher, &line);
    work_free(&work);
    return is_whole;
}

// The same.
static bool look_at_memories(struct looked *looked, const struct input_file *file) {
    struct work work;
    struct error error;
    work_init_for(&work, &looked->work);
    const struct trace_contents *contents = trace_store_contents(&work, file, &error);
    const struct memory_profile *profile = contents && contents->has_memory_events
                                               ? profile_store_load(&work, file, &error)
                                               : NULL;
    for (size_t i = 0; profile && i < profile->timeline_count; i++) {
        struct watch_line line = line_of(looked, WATCH_MEMORY, file);
        bool is_empty;
        line.capacity_bytes = watch_capacity_of(&work, file);
        watch_memory_figures(profile, &profile->timelines[i], &line, &is_empty);
        if (!is_empty) tell(looked->watcher, &line);
    }
    bool has_failed = !contents || (contents->has_memory_events && !profile);
    bool is_whole = !has_failed || take_error(looked, file, &error);
    work_free(&work);
    return is_whole;
}

static bool is_stopped(const struct looked *looked) {
    return !report_sink_is_open(&looked->watcher->sink);
}

// Which of the hosts' files are looked at now: those that are new, and whole or wrong for good.
static bool *choose_files(struct looked *looked, const struct module_list *list) {
    bool *chosen = arena_new(&looked->work.arena, bool, list->host_count + 1);
    for (size_t i = 0; chosen && i < list->host_count; i++) {
        const struct module_host *host = &list->hosts[i];
        if (watch_knows(&looked->watcher->seen, watch_key_of_file(looked->found->name, host->file))) continue;
        chosen[i] = !host->error || take_error(looked, host->file, host->error);
    }
    return chosen;
}

static void look_at_files(struct looked *looked, const struct module_list *list) {
    bool *chosen = choose_files(looked, list);
    for (size_t i = 0; chosen && i < list->row_count && !is_stopped(looked); i++) {
        uint32_t first = list->rows[i].hosts[0];
        if (chosen[first]) chosen[first] = look_at_program(looked, list, &list->rows[i]);
    }
    for (size_t i = 0; chosen && i < list->host_count && !is_stopped(looked); i++) {
        const struct input_file *file = list->hosts[i].file;
        bool is_trace = chosen[i] && list->hosts[i].index && file->kind == PROFILE_FILE_XPLANE;
        if (is_trace) chosen[i] = look_at_memories(looked, file);
        if (chosen[i]) watch_remember(&looked->watcher->seen, watch_key_of_file(looked->found->name, file));
    }
}

static void look_at_programs(struct looked *looked) {
    const struct catalog_session *found = looked->found;
    const struct session opened = {found->name, found->version, found->files, true};
    struct module_list list;
    struct error error;
    if (found->files.file_count == 0) return;
    if (module_list_read(&looked->work, &opened, &list, &error))
        look_at_files(looked, &list);
    else
        watch_complain(looked->watcher, &error);
}

// --- Device memory profiles ---

static bool list_device_memory(struct looked *looked, struct session_files *files) {
    struct error error;
    *files = (struct session_files){0};
    if (!looked->found->may_hold_device_memory && looked->found->files.file_count) return true;
    if (session_files_list(&looked->found->place, SESSION_DEVICE_MEMORY, &looked->work.arena, files, &error))
        return true;
    watch_complain(looked->watcher, &error);
    return false;
}

static void look_at_device_memory(struct looked *looked, const struct input_file *file) {
    struct watch_line line = line_of(looked, WATCH_DEVICE_MEMORY, file);
    struct error error;
    struct work work;
    int64_t key = watch_key_of_file(looked->found->name, file);
    if (watch_knows(&looked->watcher->seen, key)) return;
    work_init_for(&work, &looked->work);
    bool is_good = watch_device_memory_figures(&work, file, &line, &error);
    if (is_good) tell(looked->watcher, &line);
    if (is_good || take_error(looked, file, &error)) watch_remember(&looked->watcher->seen, key);
    work_free(&work);
}

// --- Sessions ---

static void remember_files(struct looked *looked, const struct session_files *files) {
    for (size_t i = 0; i < files->file_count; i++)
        watch_remember(&looked->watcher->seen, watch_key_of_file(looked->found->name, &files->files[i]));
}

static void look_at_session(struct watcher *watcher, const struct catalog_session *found) {
    int64_t key = watch_key_of_session(found);
    struct looked looked = {.watcher = watcher, .found = found};
    struct session_files others;
    if (watch_knows(&watcher->seen, key)) return;
    work_init(&looked.work, watcher->cache);
    if (!list_device_memory(&looked, &others)) others.file_count = 0;
    if (watcher->is_telling) {
        look_at_programs(&looked);
        for (size_t i = 0; i < others.file_count && !is_stopped(&looked); i++)
            look_at_device_memory(&looked, &others.files[i]);
    } else {
        remember_files(&looked, &found->files);
        remember_files(&looked, &others);
    }
    work_free(&looked.work);
    watcher->is_waiting |= looked.is_waiting;
    if (!looked.is_waiting) watch_remember(&watcher->seen, key);
}

// Where the scan could not look may be sessions.
static void complain_of_left_out(struct watcher *watcher, const struct catalog *catalog) {
    for (size_t i = 0; i < catalog->left_out_count; i++) {
        const struct input_remark *remark = &catalog->left_out[i];
        struct error error;
        (void)error_in(&error, ERROR_UNREADABLE, remark->path, ERROR_WHOLE_FILE, "%s", remark->reason);
        if (remark->is_fault) watch_complain(watcher, &error);
    }
}

void watch_look(struct watcher *watcher, const struct catalog *catalog) {
    watcher->is_waiting = catalog->pending_count > 0;
    complain_of_left_out(watcher, catalog);
    for (size_t i = catalog->session_count; i-- > 0;) look_at_session(watcher, &catalog->sessions[i]);
    for (size_t i = catalog->device_memory_count; i-- > 0;) look_at_session(watcher, &catalog->device_memory[i]);
}
