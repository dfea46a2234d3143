#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/oom/oom_message.h"
#include "analysis/oom/oom_text.h"
#include "server/document/explain_document.h"
#include "server/command/command.h"
#include "server/command/progress.h"
#include "server/text/json_short.h"

enum { CACHE_BYTES = 160 << 20, TOP_ALL = -1 };

// --- What is asked ---

struct explain_options {
    const char *path;  // "-" for standard input
    const char *logdir, *session, *module;
    int64_t capacity_bytes;  // OOM_ABSENT: the message's own
    unsigned format;         // enum format
    int top;                 // TOP_ALL: every row of the JSON
    bool follow_symlinks;
    struct storage_settings storage;
    bool show_help;
};

static const char help[] = "hbmview explain: why did it run out of memory, and what to change\n"
                           "\n"
                           "  hbmview explain [FILE|-] [--logdir DIR] [--capacity SIZE]\n"
                           "                  [--format text|json|markdown] [--top N]\n"
                           "\n"
                           "FILE is a log (also .gz), a traceback or just the message; - or nothing reads\n"
                           "standard input (hbmview explain < train.log). Every out-of-memory message of XLA on\n"
                           "TPU and GPU and of the BFC allocator is found, wherever it stands, also wrapped,\n"
                           "prefixed by a logger, repeated by many hosts, or cut off.\n"
                           "\n"
                           "  --logdir DIR      where profiles or XLA dumps of the program are: the answer then\n"
                           "                    names its buffers and where they come from\n"
                           "  --follow_symlinks  open links that lead out of DIR\n"
                           "  --session S       look in this session of DIR only\n"
                           "  --module M        the program is this one (the message's own)\n"
                           "  --capacity SIZE   the memory there is, as 15.75G or 16GiB or bytes (K, M, G are\n"
                           "                    powers of 1024), or a device: v5e, H100 (the message's own)\n"
                           "  --top N           so many rows of each list of the json; the others are counted\n"
                           "                    (all)\n"
                           "  --format F        text, json or markdown (text)\n" STORAGE_FLAGS_HELP "  --help\n"
                           "\n"
                           "Exit codes: 0 explained; 1 no out-of-memory message found; 2 wrong usage; 3 the log\n"
                           "or DIR could not be read.\n";

static bool parse(int count, char *const arguments[], struct explain_options *options, char *problem) {
    *options = (struct explain_options){
        .capacity_bytes = OOM_ABSENT, .top = TOP_ALL, .storage = storage_settings_usual()};
    const struct flag flags[] = {
        {"logdir", FLAG_PATH, .text = &options->logdir},
        STORAGE_FLAGS(options->storage),
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"capacity", FLAG_CAPACITY, .bytes = &options->capacity_bytes},
        {"top", FLAG_NUMBER, .number = &options->top, .min = 0, .max = INT_MAX},
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = format_choices_without_csv},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "FILE", NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    if (!options->path) options->path = "-";
    return true;
}

// --- Reading ---

static bool read_all(int fd, struct output *log) {
    enum { PIECE_BYTES = 1 << 16 };
    for (;;) {
        char *to = output_reserve(log, PIECE_BYTES);
        if (!to) return errno = EFBIG, false;
        ssize_t size = read(fd, to, PIECE_BYTES);
        if (size == 0) return true;
        if (size > 0)
            output_advance(log, (size_t)size);
        else if (errno != EINTR)
            return false;
    }
}

// False: the problem was told.
static bool read_log(const char *path, struct output *log) {
    bool is_input = strcmp(path, "-") == 0;
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool is_good = fd >= 0 && read_all(fd, log);
    if (!is_good) {
        const char *reason = errno == EFBIG ? "it is larger than 256 MiB; give the part around the error"
                                            : strerror(errno);
        command_say("%s cannot be read: %s.", is_input ? "Standard input" : path, reason);
    }
    if (fd >= 0 && !is_input) close(fd);
    return is_good;
}

// --- Writing ---

static void write_explanation(const struct explain_options *options, const struct explanation *explanation,
                              struct arena *arena, struct output *output) {
    struct json_writer w = json_writer_on(output);
    if (options->format != FORMAT_JSON) {
        explain_text_write(explanation, options->format == FORMAT_MARKDOWN, arena, output);
        return;
    }
    explain_json_write(explanation, arena, &w);
    if (options->top != TOP_ALL) json_shorten_output(output, (size_t)options->top, NULL, NULL);
    output_append_char(output, '\n');
}

static enum exit_code write_out(const struct explain_options *options, const struct explanation *explanation,
                                struct arena *arena) {
    struct report_sink sink;
    report_sink_init(&sink, STDOUT_FILENO);
    write_explanation(options, explanation, arena, &sink.output);
    enum exit_code code = command_ends(&sink, NULL, "explanation");
    report_sink_free(&sink);
    return code;
}

// --- The command ---

// Whether DIR, and the session of it that was asked for, can be opened at all: a typing slip must not look like "no
// profile of it".
static bool can_join(struct work *work, struct store *store, const struct explain_options *options,
                     struct progress *progress) {
    struct error error;
    struct session session;
    struct session_place place = {.name = options->session};
    bool is_good = store_catalog(store, work, true, &error) != NULL;
    if (is_good && options->session)
        is_good = store_open_session(store, work, &place, STORE_LIST_NOTHING, &session, &error);
    if (!is_good) progress_end(progress);
    if (!is_good) command_say("%s%s%s", error.file, error.file[0] ? ": " : "", error.message);
    return is_good;
}

static enum exit_code explain(struct work *work, struct store *store, const struct explain_options *options,
                              struct bytes log, struct progress *progress) {
    struct explain_request asked = {
        .log = log, .session = options->session, .module = options->module, .capacity_bytes = options->capacity_bytes};
    struct explanation explanation;
    struct error error;
    if (store && !can_join(work, store, options, progress)) return EXIT_CODE_UNREADABLE;
    bool is_made = explanation_make(work, store, &asked, &explanation, &error);
    progress_end(progress);
    if (!is_made) return command_complain(EXIT_CODE_UNREADABLE, error.message);
    if (explanation.log.message_count == 0)
        return command_complain(EXIT_CODE_CHECK_FAILED, "no out-of-memory message found");
    return write_out(options, &explanation, &work->arena);
}

// The line begins when the log is there: it may be typed in.
static enum exit_code explain_followed(struct work *work, struct store *store, const struct explain_options *options,
                                       struct bytes log) {
    struct progress progress;
    progress_begin(&progress);
    work->reading = progress_reading(&progress);
    enum exit_code code = explain(work, store, options, log, &progress);
    progress_end(&progress);
    work->reading = NULL;
    return code;
}

static enum exit_code run(const struct explain_options *options) {
    struct output log;
    struct work work;
    struct cache *cache = cache_new(CACHE_BYTES, 1);
    struct store *store = options->logdir ? store_new(options->logdir, &options->storage) : NULL;
    enum exit_code code = EXIT_CODE_UNREADABLE;
    if (store && options->follow_symlinks) store_follow_links(store);
    output_init(&log, OOM_LOG_BYTES_MAX);
    work_init(&work, cache);
    if (!cache || (options->logdir && !store))
        command_complain(code, "There is not enough memory to start.");
    else if (read_log(options->path, &log))
        code = explain_followed(&work, store, options, output_bytes(&log));
    work_free(&work);
    store_free(store);
    cache_free(cache);
    output_free(&log);
    return code;
}

enum exit_code explain_run(int count, char *const arguments[]) {
    struct explain_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = parse(count, arguments, &options, problem);
    const char *told = is_good && options.show_help ? help : NULL;
    return command_begins(is_good ? NULL : problem, told, &code) ? run(&options) : code;
}
