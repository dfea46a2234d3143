#include "server/command/xprof_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/http/inner_ask.h"
#include "server/json_read.h"
#include "server/log_directory.h"
#include "server/xprof/xprof.h"

enum { CACHE_BYTES = 160 << 20, ARGUMENTS_MAX = 64, FLAGS_MAX = 24 };

// --- What is asked ---

static bool is_bare(const char *argument, const char *next) {
    static const char *const switches[] = {"--include_summary", "--aggregate_instructions", "--bypass_cache"};
    bool has_value = next && strncmp(next, "--", 2) != 0;
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(argument, switches[i]) == 0) return !has_value;
    }
    return false;
}

// Switches without a value are given one.
static size_t complete(struct arena *arena, int count, char *const arguments[], char *completed[ARGUMENTS_MAX]) {
    size_t kept = 0;
    for (int i = 0; i < count && kept < ARGUMENTS_MAX; i++) {
        const char *next = i + 1 < count ? arguments[i + 1] : NULL;
        char *whole = is_bare(arguments[i], next) ? arena_printf(arena, "%s=True", arguments[i]) : NULL;
        completed[kept++] = whole ? whole : arguments[i];
    }
    return kept;
}

bool xprof_switch_read(const char *name, const char *text, bool *on, char problem[OPTIONS_PROBLEM_BYTES]) {
    static const char *const words[] = {"False", "True", "false", "true", "0", "1", "no", "yes"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) return *on = i % 2, true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s is True or False, not \"%.60s\".", name, text);
    return false;
}

bool xprof_command_parse(struct xprof_command *command, int count, char *const arguments[], const struct flag *more,
                         size_t more_count, char problem[OPTIONS_PROBLEM_BYTES]) {
    const char *name = command->name, *word = NULL, *bypass_cache = NULL, *logdir = NULL;
    char *completed[ARGUMENTS_MAX];
    *command = (struct xprof_command){.name = name, .serving.storage = storage_settings_usual()};
    work_init(&command->work, NULL);
    struct flag flags[FLAGS_MAX] = {
        {"logdir", FLAG_PATH, .text = &logdir},      {"session_id", FLAG_TEXT, .text = &command->session_id},
        {"host", FLAG_TEXT, .text = &command->host}, {"bypass_cache", FLAG_TEXT, .text = &bypass_cache},
        STORAGE_FLAGS(command->serving.storage),     {"help", FLAG_SWITCH, .on = &command->serving.show_help},
    };
    size_t own = 0;
    while (flags[own].name) own++;
    if (more_count) memcpy(&flags[own], more, more_count * sizeof *more);
    const struct flag_set set = {flags, own + more_count, &word, "PATH", NULL};
    size_t kept = complete(&command->work.arena, count, arguments, completed);
    if (!flags_read((int)kept, completed, &set, problem)) return false;
    if (word && logdir) command->session_id = word;  // as XProf takes them: SESSION --logdir=DIR
    command->path = logdir ? logdir : word;
    command->serving.logdir = command->path;
    if (command->path || command->serving.show_help) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "%s needs a PATH: hbmview %s PATH", name, name);
    return false;
}

// --- XProf's routes ---

static void ask_xprof(struct request *request, struct reply *reply) {
    static const struct {
        const char *path;
        request_handler *handler;
    } routes[] = {{"/api/v1/runs", xprof_runs},
                  {"/api/v1/hosts", xprof_hosts},
                  {"/api/v1/module_list", xprof_module_list},
                  {"/api/v1/data", xprof_data}};
    struct error error = {.code = ERROR_NOT_FOUND};
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        bool is_it = strcmp(request->path, routes[i].path) == 0;
        if (is_it && routes[i].handler(request, reply, &error)) return;
    }
    reply_error(request, reply, REPLY_API, &error);
}

struct bytes xprof_command_ask(struct xprof_command *command, const char *resource,
                               const struct request_argument *query, bool *is_good) {
    struct inner_question question = {.resource = resource, .query = query};
    struct inner_answer answer;
    *is_good = inner_ask(&command->app, &question, &answer);
    const char *copy = *is_good ? arena_string(&command->work.arena, answer.reply.body) : NULL;
    if (!*is_good) inner_answer_refusal(&answer, &command->error);
    inner_answer_free(&answer);
    *is_good = *is_good && (copy || work_out_of_memory(&command->error));
    return copy ? bytes_of(copy) : (struct bytes){0};
}

// --- Which session ---

static bool is_known(const json_t *runs, const char *name) {
    for (size_t i = 0; i < json_array_size(runs); i++) {
        if (strcmp(json_string_value(json_array_get(runs, i)), name) == 0) return true;
    }
    return false;
}

static bool find_session(struct xprof_command *command) {
    struct inner_question question = {.resource = "runs"};
    json_t *runs = inner_ask_json(&command->app, &question, &command->error);
    const char *newest = json_string_value(json_array_get(runs, 0)), *asked = command->session_id;
    if (!runs) return false;
    if (!newest)
        error_set(&command->error, ERROR_NOT_FOUND, "No .xplane.pb or .xspace.pb files found in directory '%.200s'.",
                  command->path);
    else if (asked && !is_known(runs, asked))
        error_set(&command->error, ERROR_NOT_FOUND, "Run directory not found for session '%.100s' in %.200s", asked,
                  command->path);
    else
        command->session = arena_printf(&command->work.arena, "%s", asked ? asked : newest);
    json_decref(runs);
    return command->session != NULL;
}

static bool find_hosts(struct xprof_command *command) {
    struct request_argument query[] = {{"run", command->session}, {0}};
    struct inner_question question = {.resource = "hosts", .query = query};
    json_t *list = inner_ask_json(&command->app, &question, &command->error), *one;
    size_t i;
    bool is_known_host = !command->host;
    command->hosts = json_array();
    json_array_foreach(list, i, one) {
        const char *name = json_string_value(json_object_get(one, "hostname"));
        is_known_host = is_known_host || strcmp(name, command->host) == 0;
        if (!command->host || strcmp(name, command->host) == 0)
            json_array_append(command->hosts, json_object_get(one, "hostname"));
    }
    json_decref(list);
    return list &&
           (is_known_host || error_set(&command->error, ERROR_BAD_REQUEST, "Unknown host '%.100s'.", command->host));
}

bool xprof_command_begin(struct xprof_command *command) {
    char problem[LOG_DIRECTORY_PROBLEM_BYTES];
    const struct options *serving = &command->serving;
    command->app = (struct app){.options = serving, .ask_api = ask_xprof, .cache = cache_new(CACHE_BYTES, 1)};
    command->app.store = store_new(serving->logdir, &serving->storage);
    if (!command->app.cache || !command->app.store) return work_out_of_memory(&command->error);
    if (!log_directory_check(serving->logdir, &serving->storage, problem, sizeof problem))
        return error_set(&command->error, ERROR_NOT_FOUND, "%s", problem);
    return find_session(command) && find_hosts(command);
}

void xprof_command_end(struct xprof_command *command) {
    json_decref(command->hosts);
    work_free(&command->work);
    store_free(command->app.store);
    cache_free(command->app.cache);
}

// --- What is written ---

json_t *xprof_command_capture(const struct xprof_command *command) {
    return json_pack("{s:s, s:s, s:O, s:O, s:b, s:[]}", "input", command->path, "run", command->session, "files_used",
                     command->hosts, "files_available", command->hosts, "combined", 0, "warnings");
}

enum exit_code xprof_command_write_text(const char *text) {
    struct report_sink sink;
    report_sink_init(&sink, STDOUT_FILENO);
    output_put(&sink.output, text);
    enum exit_code code = command_ends(&sink, NULL, "answer");
    report_sink_free(&sink);
    return code;
}

static json_t *error_document(const struct error *error) {
    const char *reason = error->code == ERROR_NOT_FOUND ? "PATH_ERROR" : "INVALID_VALUE";
    return json_pack("{s:s, s:s, s:s}", "status", "ERROR", "reason", reason, "error", error->message);
}

enum exit_code xprof_command_write(struct xprof_command *command, const json_t *document, int digits) {
    json_t *told = document ? NULL : error_document(&command->error);
    size_t flags = JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION((size_t)digits);
    char *text = json_dumps(document ? document : told, flags);
    const char *line = text ? arena_printf(&command->work.arena, "%s\n", text) : NULL;
    enum exit_code code = line ? xprof_command_write_text(line) : EXIT_CODE_UNREADABLE;
    if (told) command_complain(code, command->error.message);
    json_text_free(text);
    json_decref(told);
    return document ? code : EXIT_CODE_UNREADABLE;
}
