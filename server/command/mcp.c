#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/base/memory_room.h"
#include "server/api/api_routes.h"
#include "server/command/command.h"
#include "server/log_directory.h"
#include "server/mcp/mcp_session.h"
#include "server/store/memory_keeper.h"

enum { PARALLEL_LOADS = 2 };

static const char help[] = "hbmview mcp: the same facts for agents (Model Context Protocol on stdin and stdout)\n"
                           "\n"
                           "  hbmview mcp [--logdir PATH]\n"
                           "\n"
                           "An agent's program starts it, and calls six tools that only read: sessions, report,\n"
                           "who_holds, explain, advise and diff. Nothing outside PATH can be read through them, and\n"
                           "nothing is written. Claude Code, for one:\n"
                           "\n"
                           "  claude mcp add hbmview -- hbmview mcp --logdir=/tmp/xprof\n"
                           "\n"
                           "  --logdir PATH      what hbmview --logdir takes (the built-in sample)\n"
                           "  --follow_symlinks  open links that lead out of PATH\n"
                           "  --cache_mib N      how much to keep in memory between calls (160)\n"
                           "  --memory_limit N   the most MiB for the whole process, 128 or more: the cache\n"
                           "                     gives way, what does not fit is refused (none)\n" STORAGE_FLAGS_HELP
                           "  --help\n"
                           "\n"
                           "It ends when stdin does. Exit codes: 0 good; 2 wrong usage; 3 PATH cannot be read.\n";

static bool parse(int count, char *const arguments[], struct options *options, char *problem) {
    *options = (struct options){.cache_mib = DEFAULT_CACHE_MIB, .storage = storage_settings_usual()};
    const struct flag flags[] = {
        {"logdir", FLAG_PATH, .text = &options->logdir},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        MEMORY_FLAGS(options),
        STORAGE_FLAGS(options->storage),
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const char *word = NULL;
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &word, NULL, NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    if (word)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "\"%.80s\" is no option; hbmview mcp --logdir=%.80s", word, word);
    return !word;
}

static enum exit_code run_on(struct app *app) {
    const struct resident_count resident = resident_memory_open();
    struct memory_keeper *keeper = memory_keeper_new(app->cache, &resident);
    app->summaries = keeper ? module_summaries_new(app->cache, app->store) : NULL;
    bool has_begun = app->summaries, is_good = has_begun && mcp_session_run(app, STDIN_FILENO, STDOUT_FILENO);
    module_summaries_free(app->summaries);
    memory_keeper_free(keeper);
    resident_memory_close(&resident);
    if (!has_begun) return command_complain(EXIT_CODE_UNREADABLE, "There is not enough memory to start.");
    return is_good ? EXIT_CODE_GOOD
                   : command_complain(EXIT_CODE_UNREADABLE, "Nobody reads the answers, or no memory is left.");
}

static bool make_room(void *cache, size_t bytes) {
    return cache_make_room(cache, bytes);
}

static enum exit_code run(const struct options *options) {
    char problem[LOG_DIRECTORY_PROBLEM_BYTES];
    if (options->logdir && !log_directory_check(options->logdir, &options->storage, problem, sizeof problem))
        return command_complain(EXIT_CODE_UNREADABLE, problem);
    struct app app = {.options = options,
                      .ask_api = api_answer,
                      .cache = cache_new(options_cache_bytes(options), PARALLEL_LOADS),
                      .store = store_new(options->logdir, &options->storage)};
    if (app.store && options->follow_symlinks) store_follow_links(app.store);
    bool is_good = app.cache && app.store;
    if (is_good) memory_room_set((size_t)options->memory_limit_mib << 20, make_room, app.cache);
    enum exit_code code = is_good ? run_on(&app)
                                  : command_complain(EXIT_CODE_UNREADABLE, "There is not enough memory to start.");
    memory_room_set(0, NULL, NULL);
    store_free(app.store);
    cache_free(app.cache);
    return code;
}

enum exit_code mcp_run(int count, char *const arguments[]) {
    struct options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = parse(count, arguments, &options, problem);
    const char *told = is_good && options.show_help ? help : NULL;
    return command_begins(is_good ? NULL : problem, told, &code) ? run(&options) : code;
}
