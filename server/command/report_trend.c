#include "server/command/report_trend.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/base/size_text.h"
#include "server/command/progress.h"
#include "server/document/trend_document.h"
#include "server/text/error_json.h"
#include "server/text/printable.h"

// A program takes some ten times its bytes while it is read.
enum { LOADS_AT_ONCE = 8 };

struct trend_report {
    const struct report_options *options;
    struct store *store;
    struct work work;
    struct report_sink sink;
    struct report_errors errors;
    struct trend trend;
    struct trend_jump jump;
    struct arena arena;  // of words
};

// --- Telling it ---

static struct trend_document document_of(struct trend_report *r, bool has_jump) {
    const struct report_options *options = r->options;
    return (struct trend_document){.trend = &r->trend,
                                   .jump = has_jump ? &r->jump : NULL,
                                   .limit = {.kind = options->has_growth_percent           ? TREND_LIMIT_PERCENT
                                                     : options->growth_bytes != REPORT_ALL ? TREND_LIMIT_BYTES
                                                                                           : TREND_NO_LIMIT,
                                             .bytes = options->growth_bytes,
                                             .percent = options->growth_percent,
                                             .is_of_total = options->fail_of == FIGURE_TOTAL},
                                   .line_count = options->top == REPORT_ALL || options->top > TREND_LINES_MAX
                                                     ? TREND_LINES_MAX
                                                     : (uint32_t)options->top};
}

static bool write_json(const struct trend_document *document, struct trend_report *r) {
    struct json_writer w = json_writer_on(&r->sink.output);
    json_open_object(&w);
    bool is_good = trend_json_write(document, &r->arena, &w);
    errors_json_write(&w, r->errors.items, r->errors.count);
    json_close_object(&w);
    output_append_char(&r->sink.output, '\n');
    return is_good;
}

static void write_text(const struct trend_document *document, struct trend_report *r) {
    struct page page = {.output = &r->sink.output,
                        .arena = &r->arena,
                        .is_markdown = r->options->format == FORMAT_MARKDOWN,
                        .width = page_width_of(r->sink.fd)};
    trend_text_write(document, &page);
}

// False: there is no memory for the words.
static bool write_document(const struct trend_document *document, struct trend_report *r) {
    if (r->options->format == FORMAT_JSON) return write_json(document, r);
    if (r->options->format == FORMAT_CSV)
        trend_csv_write(document, r->options->has_groups, &r->sink.output);
    else
        write_text(document, r);
    return true;
}

// --- The limit ---

static bool is_within(const struct trend_document *document, struct arena *arena) {
    struct trend_growth growth;
    if (document->limit.kind == TREND_NO_LIMIT) return true;
    if (!trend_growth_of(document, &growth)) {
        fputs("hbmview: --max-growth: there are no two sessions to compare, so none were.\n", stderr);
        return true;
    }
    if (!growth.is_over) return true;
    command_say("%s: the %s grew by %s (%" PRId64 " bytes) since %s, more than %s (%" PRId64 ").",
                trend_point_words(document->trend, growth.after, arena), document->limit.is_of_total ? "total" : "peak",
                size_string(growth.delta_bytes, arena), growth.delta_bytes,
                trend_point_words(document->trend, growth.before, arena), size_string(growth.limit_bytes, arena),
                growth.limit_bytes);
    return false;
}

// --- What is missing ---

// An old session that is damaged is a row, and a line here: a check of the newest goes on. The newest is what was
// asked, and what the system refuses to show (a folder, a disk that fails) may be readable the next time.
static void tell_broken(struct trend_report *r, const struct trend_point *point, bool is_newest) {
    if (is_newest || point->reason->code == ERROR_UNREADABLE)
        report_errors_add(&r->errors, point->reason);
    else
        fprintf(stderr, "hbmview: %s: passed over: %s\n", printable_text(bytes_of(point->session), &r->arena),
                printable_text(bytes_of(point->reason->message), &r->arena));
}

static void tell_missing(struct trend_report *r) {
    const struct trend *trend = &r->trend;
    progress_end(r->options->progress);
    const char *flag = trend->question.tool == TREND_PROGRAM ? "module" : "memory-id";
    struct known_names known = {.count = 0};
    for (uint32_t i = 0; i < trend->unlisted_count; i++)
        report_errors_say(&r->errors, ERROR_UNREADABLE, trend->unlisted[i].path, "%s", trend->unlisted[i].reason);
    for (uint32_t i = 0; i < trend->count; i++) {
        if (trend->points[i].state == TREND_ERROR) tell_broken(r, &trend->points[i], i + 1 == trend->count);
    }
    if (trend->count == 0) {
        report_errors_say(&r->errors, ERROR_NOT_FOUND, r->options->path, "There are no %s here to follow.",
                          trend->question.tool == TREND_DEVICE_MEMORY ? "device memory profiles" : "sessions");
    } else if (trend->ready_count == 0 && r->errors.count == 0) {
        for (uint32_t i = 0; i < trend->name_count; i++) known_names_add(&known, trend->names[i].name, &r->arena);
        if (known.count)
            report_errors_say(&r->errors, ERROR_NOT_FOUND, NULL, "No session has %s \"%.160s\"; there are %zu: %.250s.",
                              flag, trend->question.subject ? trend->question.subject : "", known.count,
                              known_names_text(&known, KNOWN_NAMES_FEW, &r->arena));
        else
            report_errors_say(&r->errors, ERROR_NOT_FOUND, r->options->path, "No session holds %s%s%.160s.",
                              trend->question.tool == TREND_PROGRAM ? "a compiled program" : "memory events",
                              trend->question.host ? " of host " : "",
                              trend->question.host ? trend->question.host : "");
    }
}

// --- The command ---

static void tell_step(void *context, size_t done, size_t all) {
    progress_step(context, "session", done, all);
}

// False: a limit was passed.
static bool tell(struct trend_report *r) {
    struct error error;
    const struct trend_question question = {.tool = (enum trend_tool)r->options->tool,
                                            .subject = r->options->tool == REPORT_MEMORY_VIEWER ? r->options->module
                                                                                                : r->options->memory_id,
                                            .host = r->options->host,
                                            .space = r->options->space == REPORT_ALL ? 0 : r->options->space,
                                            .by = (enum memory_group_by)r->options->by,
                                            .frameworks = r->options->frameworks,
                                            .patience_ms = -1,
                                            .tell = tell_step,
                                            .context = r->options->progress};
    if (!trend_read(r->store, &r->work, &question, &r->trend, &error)) {
        report_errors_add(&r->errors, &error);
        return true;
    }
    bool has_jump = trend_jump_find(&r->trend, &r->jump);
    tell_missing(r);
    const struct trend_document document = document_of(r, has_jump);
    if (!write_document(&document, r))
        report_errors_say(&r->errors, ERROR_TOO_BIG, NULL, "There is not enough memory for the trend.");
    return is_within(&document, &r->arena);
}

// Has a store and a cache.
static enum exit_code run(struct trend_report *r) {
    struct progress *progress = r->options->progress;
    arena_init(&r->arena, 0);
    r->errors.arena = &r->arena;
    r->work.reading = progress_reading(progress);
    report_sink_init(&r->sink, STDOUT_FILENO);
    r->sink.progress = progress;
    bool is_within_limit = tell(r);
    progress_end(r->options->progress);
    enum exit_code code = command_ends(&r->sink, &r->errors, "trend");
    report_sink_free(&r->sink);
    arena_free(&r->arena);
    return code == EXIT_CODE_GOOD && !is_within_limit ? EXIT_CODE_CHECK_FAILED : code;
}

enum exit_code report_trend_run(const struct report_options *options) {
    struct trend_report r = {.options = options, .store = store_new(options->path, &options->storage)};
    struct cache *cache = cache_new(COMMAND_CACHE_BYTES, LOADS_AT_ONCE);
    enum exit_code code = EXIT_CODE_UNREADABLE;
    if (r.store && options->follow_symlinks) store_follow_links(r.store);
    work_init(&r.work, cache);
    if (cache && r.store)
        code = run(&r);
    else
        command_complain(code, "There is not enough memory to start.");
    work_free(&r.work);
    cache_free(cache);
    store_free(r.store);
    return code;
}
