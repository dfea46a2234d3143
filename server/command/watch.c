// `hbmview watch`: looks, tells what is new, waits.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/command/watch_look.h"
#include "analysis/base/steady_clock.h"
#include "server/live/lookout.h"

enum { GRACE_SECONDS = 2 };

// --- Ctrl-C ---

struct stop {
    sigset_t signals;
    atomic_bool is_wanted, is_over;
    struct lookout *lookout;
    pthread_t thread;
};

// Nothing is done with a signal that comes meanwhile; that of stop_end ends the wait.
static void give_grace(struct stop *stop) {
    int64_t until_ms = steady_ms() + (int64_t)GRACE_SECONDS * 1000, left_ms;
    while (!atomic_load(&stop->is_over) && (left_ms = until_ms - steady_ms()) > 0) {
        const struct timespec wait = {left_ms / 1000, left_ms % 1000 * 1000000};
        (void)sigtimedwait(&stop->signals, NULL, &wait);
    }
}

// A load that is under way may take long; nothing is lost by not waiting for it to its end.
static void *await_signal(void *context) {
    struct stop *stop = context;
    int caught;
    while (sigwait(&stop->signals, &caught) != 0) continue;
    if (atomic_load(&stop->is_over)) return NULL;
    atomic_store(&stop->is_wanted, true);
    lookout_wake(stop->lookout);
    give_grace(stop);
    if (!atomic_load(&stop->is_over)) _exit(EXIT_CODE_GOOD);
    return NULL;
}

static bool stop_begin(struct stop *stop, struct lookout *lookout) {
    stop->lookout = lookout;
    atomic_init(&stop->is_wanted, false);
    atomic_init(&stop->is_over, false);
    sigemptyset(&stop->signals);
    sigaddset(&stop->signals, SIGINT);
    sigaddset(&stop->signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop->signals, NULL);
    return pthread_create(&stop->thread, NULL, await_signal, stop) == 0;
}

// By a signal to this thread alone, for which it waits. Not by pthread_cancel, which loads a library, and ends the
// program where there is no memory for it.
static void stop_end(struct stop *stop) {
    atomic_store(&stop->is_over, true);
    pthread_kill(stop->thread, SIGINT);
    pthread_join(stop->thread, NULL);
}

// --- Looking ---

static void say_begun(const struct watcher *watcher, const struct lookout *lookout, const struct catalog *catalog) {
    size_t count = catalog->session_count + catalog->device_memory_count;
    command_say("watching %.300s (%s): %zu session%s so far.", watcher->opened.path, lookout_way(lookout), count,
                count == 1 ? "" : "s");
}

// A run may make its folder later than this command is started. False: there is no use in waiting for it.
static bool await_path(struct watcher *watcher, const struct error *error, bool is_first) {
    bool may_come = error->code == ERROR_NOT_FOUND && !watcher->options->is_once;
    watcher->is_waiting = false;
    if (!may_come)
        watch_complain(watcher, error);
    else if (is_first)
        command_say("There is no %.300s yet: waiting for it.", watcher->opened.path);
    return may_come;
}

// What there was at the last look that saw something.
struct seen_before {
    struct arena arena;
    struct catalog catalog;
    bool is_there;
};

// False: PATH cannot be looked at.
static bool look(struct watcher *watcher, struct lookout *lookout, struct seen_before *before, bool is_first) {
    struct seen_before now = {.is_there = true};
    struct error error;
    arena_init(&now.arena, 0);
    lookout_looks(lookout);
    bool is_seen = catalog_scan_again(watcher->opened.storage, watcher->opened.path,
                                      before->is_there ? &before->catalog : NULL, &now.arena, &now.catalog, &error);
    bool is_good = is_seen;
    if (is_seen) {
        watch_look(watcher, &now.catalog);
        if (is_first && !watcher->options->is_once) say_begun(watcher, lookout, &now.catalog);
        arena_free(&before->arena);
        *before = now;
    } else {
        is_good = await_path(watcher, &error, is_first);
        arena_free(&now.arena);
    }
    lookout_looked(lookout, is_seen ? &before->catalog : NULL);
    return is_good || !is_first;
}

static bool goes_on(const struct watcher *watcher, const struct stop *stop, int64_t until_ms) {
    if (watcher->options->is_once || watcher->is_over || atomic_load(&stop->is_wanted)) return false;
    return report_sink_is_open(&watcher->sink) && (until_ms < 0 || steady_ms() < until_ms);
}

static bool look_again_and_again(struct watcher *watcher, struct lookout *lookout, const struct stop *stop,
                                 struct seen_before *before) {
    int seconds = watcher->options->seconds;
    int64_t until_ms = seconds == WATCH_FOR_EVER ? -1 : steady_ms() + (int64_t)seconds * 1000;
    watcher->is_telling = watcher->options->tells_existing;
    if (!look(watcher, lookout, before, true)) return false;
    watcher->is_telling = true;
    while (goes_on(watcher, stop, until_ms)) {
        lookout_wait(lookout, watcher->is_waiting, until_ms < 0 ? -1 : until_ms - steady_ms());
        if (!atomic_load(&stop->is_wanted)) (void)look(watcher, lookout, before, false);
    }
    return true;
}

// --- The command ---

static enum exit_code code_of(const struct watcher *watcher, bool is_good) {
    int problem = watcher->sink.error_number;
    if (problem) command_say("The lines could not be written: %s.", strerror(problem));
    if (watcher->is_over) return EXIT_CODE_CHECK_FAILED;
    bool has_failed = !is_good || problem || (watcher->options->is_once && watcher->has_errors);
    return has_failed ? EXIT_CODE_UNREADABLE : EXIT_CODE_GOOD;
}

static enum exit_code watch_with(struct watcher *watcher) {
    struct lookout lookout;
    struct stop stop;
    if (!lookout_begin(&lookout, watcher->opened.storage, watcher->opened.path))
        return command_complain(EXIT_CODE_UNREADABLE, "The system has no file descriptor left.");
    if (!stop_begin(&stop, &lookout)) {
        lookout_end(&lookout);
        return command_complain(EXIT_CODE_UNREADABLE, "The system has no thread left.");
    }
    struct seen_before before = {.is_there = false};
    arena_init(&before.arena, 0);
    bool is_good = look_again_and_again(watcher, &lookout, &stop, &before);
    arena_free(&before.arena);
    stop_end(&stop);
    lookout_end(&lookout);
    return code_of(watcher, is_good);
}

static enum exit_code watch(const struct watch_options *options) {
    struct watcher watcher = {.options = options, .cache = cache_new(COMMAND_CACHE_BYTES, 1)};
    struct error error;
    enum exit_code code = EXIT_CODE_UNREADABLE;
    report_sink_init(&watcher.sink, STDOUT_FILENO);
    if (!watcher.cache || !watch_seen_init(&watcher.seen)) {
        cache_free(watcher.cache);
        return command_complain(EXIT_CODE_UNREADABLE, "There is not enough memory to start.");
    }
    bool is_good = opened_storage_begin(&watcher.opened, options->path, &options->storage, &error);
    if (options->follow_symlinks) opened_storage_follow_links(&watcher.opened);
    if (is_good)
        code = watch_with(&watcher);
    else
        watch_complain(&watcher, &error);
    opened_storage_end(&watcher.opened);
    watch_seen_free(&watcher.seen);
    report_sink_free(&watcher.sink);
    cache_free(watcher.cache);
    return code;
}

enum exit_code watch_run(int count, char *const arguments[]) {
    struct watch_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = watch_options_parse(count, arguments, &options, problem);
    const char *help = is_good && options.show_help ? watch_options_help() : NULL;
    return command_begins(is_good ? NULL : problem, help, &code) ? watch(&options) : code;
}
