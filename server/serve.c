#include "server/serve.h"

#include <signal.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory_room.h"
#include "analysis/base/processors.h"
#include "server/api/api_routes.h"
#include "server/app.h"
#include "server/command/command.h"
#include "server/http/access.h"
#include "server/http/given_token.h"
#include "server/http/guesses.h"
#include "server/http/http.h"
#include "server/http/http_tls.h"
#include "server/http/known_answers.h"
#include "server/http/request_log.h"
#include "server/http/tls_files.h"
#include "server/http/traffic.h"
#include "server/http/under_way.h"
#include "server/routes.h"
#include "server/http/listener.h"
#include "server/log_directory.h"
#include "server/store/memory_keeper.h"
#include "server/store/resident_memory.h"
#include "server/serving_sandbox.h"
#include "server/stdin_watch.h"

enum { THREADS_DEFAULT_MAX = 4 };

extern char **environ;

// --- Words for the user ---

static void greet(const struct app *app) {
    const struct access *access = app->access;
    if (access->is_socket)
        printf("hbmview is ready: unix:%s\n", app->options->unix_socket);
    else
        printf("hbmview is ready: %s\n", access->urls[0]);
    for (size_t i = 1; i < access->url_count; i++) printf("                  %s\n", access->urls[i]);
    if (!app->options->logdir) printf("Showing a built-in sample. For your own profiles: hbmview --logdir=DIR\n");
    if (access->is_shared && !access->token[0])
        printf("Anybody who reaches this port can read these profiles (--no_token).\n");
    fflush(stdout);
}

static void open_browser(const char *url) {
    char opener[] = "xdg-open", address[1024];
    snprintf(address, sizeof address, "%s", url);
    char *arguments[] = {opener, address, NULL};
    pid_t child;
    if (posix_spawnp(&child, opener, NULL, NULL, arguments, environ) != 0)
        fprintf(stderr, "hbmview: no program xdg-open here; open the link by hand.\n");
}

// --- Signals ---

static sigset_t block_stop_signals(void) {
    sigset_t stops;
    struct sigaction hangup;
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    bool is_heard = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN;  // nohup
    if (is_heard) sigaddset(&stops, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &stops, NULL);
    signal(SIGPIPE, SIG_IGN);
    return stops;
}

// Returns at the first signal. A second one ends the program at once.
static void wait_for_stop(const sigset_t *stops) {
    int caught;
    while (sigwait(stops, &caught) != 0) continue;
    pthread_sigmask(SIG_UNBLOCK, stops, NULL);
}

static void *end_after_grace(void *nothing) {
#ifdef IS_INSTRUMENTED
    enum { GRACE_SECONDS = 10 };  // counts and findings are written at the end, which takes its time
#else
    enum { GRACE_SECONDS = 3 };
#endif
    sleep(GRACE_SECONDS);
    _exit(EXIT_CODE_GOOD);
    return nothing;
}

// A load that is under way can take long (a large .gz, a slow disk). Nothing is written anywhere, so nothing is lost by
// not waiting for it to its end.
static void end_soon(void) {
    pthread_t grace;
    if (pthread_create(&grace, NULL, end_after_grace, NULL) == 0) pthread_detach(grace);
}

// --- The command ---

static unsigned parallel_loads(const struct options *options) {
    if (options->threads) return (unsigned)options->threads;
    return processors_usable(THREADS_DEFAULT_MAX);
}

static enum exit_code serve_on(struct app *app, int socket_fd, const sigset_t *stops) {
    app->answer = routes_answer;
    app->answer_at_once = routes_answer_at_once;
    app->ask_api = api_answer;
    app->let_in = routes_let_in;
    app->body_limit = routes_body_limit;
    app->is_urgent = routes_is_urgent;
    app->summaries = module_summaries_new(app->cache, app->store);
    app->live = live_new(app->store);
    app->under_way = under_way_new(app->cache);
    app->known = known_answers_new(store_stillness(app->store));
    app->log = app->options->verbose ? request_log_new(STDERR_FILENO) : NULL;
    struct memory_keeper *keeper = memory_keeper_new(app->cache, app->resident);
    bool is_good = app->summaries && app->live && app->under_way && app->known && keeper &&
                   (app->log || !app->options->verbose);
    struct http_server *server = is_good ? http_start(app, socket_fd) : NULL;
    if (!server) {
        under_way_free(app->under_way);
        known_answers_free(app->known);
        live_free(app->live);
        module_summaries_free(app->summaries);
        memory_keeper_free(keeper);
        request_log_free(app->log);
        return command_complain(EXIT_CODE_USAGE, "The server could not start: no memory or no threads left.");
    }
    greet(app);
    wait_for_stop(stops);
    end_soon();
    live_stop(app->live);
    under_way_stop(app->under_way);
    http_stop(server);
    under_way_free(app->under_way);
    known_answers_free(app->known);
    live_free(app->live);
    module_summaries_free(app->summaries);
    memory_keeper_free(keeper);
    request_log_free(app->log);
    return EXIT_CODE_GOOD;
}

// From here on no file is opened but those of the sandbox; the threads that answer begin here.
static enum exit_code serve_in_sandbox(struct app *app, int socket_fd, const sigset_t *stops) {
    struct log_directory_look look;
    if (app->options->exit_with_stdin && !stdin_watch_begin())
        return command_complain(EXIT_CODE_USAGE, "The server could not start: no memory or no threads left.");
    if (!log_directory_look_begin(&look, app->options->logdir, &app->options->storage))
        return command_complain(EXIT_CODE_UNREADABLE, look.problem);
    enum exit_code code = serve_on(app, socket_fd, stops);
    return log_directory_look_end(&look) ? code : command_complain(EXIT_CODE_UNREADABLE, look.problem);
}

static bool open_listener(const struct options *options, struct listener *listener, char *problem) {
    if (options->unix_socket) return listener_open_file(options->unix_socket, listener, problem);
    *listener = (struct listener){0};
    return listener_open(options->host, options->bind_all, options->port, listener, problem);
}

static bool make_room(void *cache, size_t bytes) {
    return cache_make_room(cache, bytes);
}

static bool begin_access(const struct options *options, const char *token, int port, struct access *access,
                         struct arena *arena) {
    const struct access_settings settings = {.host = options->host,
                                             .port = port,
                                             .bind_all = options->bind_all,
                                             .no_token = options->no_token,
                                             .behind_proxy = options->behind_proxy,
                                             .is_https = options->tls_cert,
                                             .socket_path = options->unix_socket,
                                             .token = token[0] ? token : NULL,
                                             .allow_hosts = options->allow_hosts.items,
                                             .allow_host_count = options->allow_hosts.count,
                                             .frame_ancestors = options->frame_ancestors};
    return access_init(access, arena, &settings);
}

static enum exit_code serve_with(const struct options *options, const char *token, const struct tls_files *tls,
                                 struct arena *arena) {
    char problem[LISTENER_PROBLEM_BYTES];
    struct listener listener;
    sigset_t stops = block_stop_signals();
    if (!open_listener(options, &listener, problem)) return command_complain(EXIT_CODE_USAGE, problem);
    struct access access;
    struct traffic traffic = {0};
    const struct resident_count resident = resident_memory_open();
    struct app app = {.options = options,
                      .access = &access,
                      .tls = tls,
                      .resident = &resident,
                      .traffic = &traffic,
                      .guesses = guesses_new(),
                      .checks = check_board_new(),
                      .cache = cache_new(options_cache_bytes(options), parallel_loads(options)),
                      .store = store_new(options->logdir, &options->storage)};
    if (app.store && options->follow_symlinks) store_follow_links(app.store);
    bool is_good = app.guesses && app.checks && app.cache && app.store &&
                   begin_access(options, token, listener.port, &access, arena);
    if (is_good) memory_room_set((size_t)options->memory_limit_mib << 20, make_room, app.cache);
    if (is_good && options->open_browser) open_browser(access.urls[0]);
    enum exit_code code = is_good && serving_sandbox_enter(options, arena)
                              ? serve_in_sandbox(&app, listener.socket, &stops)
                              : command_complain(EXIT_CODE_USAGE, "There is not enough memory to start.");
    memory_room_set(0, NULL, NULL);
    listener_remove_file(&listener);
    guesses_free(app.guesses);
    check_board_free(app.checks);
    store_free(app.store);
    cache_free(app.cache);
    resident_memory_close(&resident);
    return code;
}

// Before anything else begins, so that a certificate that does not do ends it at once.
static enum exit_code serve_encrypted(const struct options *options, const char *token, struct arena *arena) {
    struct tls_files tls;
    char problem[TLS_PROBLEM_BYTES];
    if (!http_can_encrypt())
        return command_complain(EXIT_CODE_USAGE,
                                "--tls_cert: this program was built without encryption; a proxy, or ssh -L, encrypts "
                                "in its stead (docs/proxies.md).");
    bool is_good = tls_files_read(options->tls_cert, options->tls_key, arena, &tls, problem) &&
                   http_tls_works(&tls, problem);
    return is_good ? serve_with(options, token, &tls, arena) : command_complain(EXIT_CODE_UNREADABLE, problem);
}

static enum exit_code serve(const struct options *options) {
    char problem[GIVEN_TOKEN_PROBLEM_BYTES], token[ACCESS_TOKEN_BYTES];
    if (options->frame_ancestors && !access_frame_sources_are_plain(options->frame_ancestors))
        return command_complain(EXIT_CODE_USAGE, "--frame_ancestors is a list of sources with blanks between them.");
    if (!given_token_read(options->token_file, token, problem)) return command_complain(EXIT_CODE_USAGE, problem);
    struct arena arena;
    arena_init(&arena, 0);
    enum exit_code code = options->tls_cert ? serve_encrypted(options, token, &arena)
                                            : serve_with(options, token, NULL, &arena);
    arena_free(&arena);
    return code;
}

enum exit_code serve_run(int count, char *const arguments[]) {
    struct options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = options_parse(count, arguments, &options, problem);
    const char *told = !is_good               ? NULL
                       : options.show_help    ? options_help()
                       : options.show_version ? "hbmview " HBMVIEW_VERSION "\n"
                                              : NULL;
    return command_begins(is_good ? NULL : problem, told, &code) ? serve(&options) : code;
}
