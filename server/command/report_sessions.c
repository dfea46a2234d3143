#include "server/command/report_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/text/printable.h"

bool report_begin(const struct report_options *options, struct report *report) {
    struct cache *cache = cache_new(COMMAND_CACHE_BYTES, 1);
    *report = (struct report){.options = *options};
    work_init(&report->work, cache);
    report->errors.arena = &report->work.arena;
    report_sink_init(&report->sink, STDOUT_FILENO);
    report->sink.progress = options->progress;
    report->work.reading = progress_reading(options->progress);
    if (!cache) command_complain(EXIT_CODE_UNREADABLE, "There is not enough memory to start.");
    return cache != NULL;
}

enum exit_code report_end(struct report *report, const char *what) {
    enum exit_code code = command_ends(&report->sink, &report->errors, what);
    file_store_close(&report->last_opened);
    report_sink_free(&report->sink);
    struct cache *cache = report->work.cache;
    work_free(&report->work);
    cache_free(cache);
    opened_storage_end(&report->opened);
    return code;
}

struct page report_page_on(const struct report *report, struct output *output, struct arena *arena) {
    return (struct page){.output = output,
                         .arena = arena,
                         .is_markdown = report->options.format == FORMAT_MARKDOWN,
                         .width = page_width_of(report->sink.fd)};
}

// --- What there is ---

static int newest_first(const void *left, const void *right) {
    const struct catalog_session *a = left, *b = right;
    return strcmp(b->name, a->name);
}

static bool list_all(struct report *report) {
    const struct catalog *catalog = &report->catalog;
    size_t count = catalog->session_count, all = count + catalog->pending_count;
    report->sessions = arena_new(&report->work.arena, struct catalog_session, all);
    if (!report->sessions) return false;
    if (count) memcpy(report->sessions, catalog->sessions, count * sizeof *report->sessions);
    if (catalog->pending_count) {  // not whole yet, but what there is so far can be told
        memcpy(report->sessions + count, catalog->pending_sessions, catalog->pending_count * sizeof *report->sessions);
        qsort(report->sessions, all, sizeof *report->sessions, newest_first);
    }
    report->session_count = all;
    return true;
}

static void keep_asked(struct report *report, const char *name) {
    size_t kept = 0;
    for (size_t i = 0; i < report->session_count; i++) {
        if (strcmp(report->sessions[i].name, name) == 0) report->sessions[kept++] = report->sessions[i];
    }
    report->session_count = kept;
}

bool report_find_sessions(struct report *report) {
    struct error error;
    bool is_good = opened_storage_begin(&report->opened, report->options.path, &report->options.storage, &error);
    if (is_good && report->options.follow_symlinks) opened_storage_follow_links(&report->opened);
    if (is_good) {
        report->storage = storage_read_for(report->opened.storage, report->work.reading);
        is_good = catalog_scan(&report->storage, report->opened.path, &report->work.arena, &report->catalog, &error);
    }
    if (!is_good) {
        report_errors_add(&report->errors, &error);
        return false;
    }
    if (!list_all(report))
        return report_errors_say(&report->errors, ERROR_TOO_BIG, NULL,
                                 "There is not enough memory for the list of sessions; give a folder further down.");
    if (report->options.session) keep_asked(report, report->options.session);
    return true;
}

// --- What is missing ---

void report_tell_left_out(struct report *report) {
    struct arena *arena = &report->work.arena;
    progress_hide(report->options.progress);
    for (size_t i = 0; i < report->catalog.left_out_count; i++) {
        const struct input_remark *remark = &report->catalog.left_out[i];
        if (!remark->is_fault)
            fprintf(stderr, "hbmview: %s: left out: %s\n", printable_text(bytes_of(remark->path), arena),
                    printable_text(bytes_of(remark->reason), arena));
        else
            report_errors_say(&report->errors, ERROR_UNREADABLE, remark->path, "%s", remark->reason);
    }
}

static void miss_session(struct report *report) {
    const struct catalog *catalog = &report->catalog;
    const char *where = report_errors_any(&report->errors) ? " in what could be listed" : "";
    struct known_names known = {.count = 0};
    for (size_t i = 0; i < catalog->session_count; i++)
        known_names_add(&known, bytes_of(catalog->sessions[i].name), &report->work.arena);
    if (known.count)
        report_errors_say(&report->errors, ERROR_NOT_FOUND, NULL,
                          "There is no session \"%.160s\"%s; there are %zu: %.250s.", report->options.session, where,
                          catalog->session_count, known_names_text(&known, KNOWN_NAMES_FEW, &report->work.arena));
    else
        report_errors_say(&report->errors, ERROR_NOT_FOUND, NULL, "There is no session \"%.160s\"%s, nor any other.",
                          report->options.session, where);
}

static void miss_everything(struct report *report) {
    report_errors_say(
        &report->errors, ERROR_NOT_FOUND, report->catalog.root,
        "There are no profiles here; give a log folder (one that holds plugins/profile), a session folder, a "
        "folder that --xla_dump_to filled, or a *.xplane.pb, *.hlo_proto.pb or *.hlo.pb file.");
}

void report_tell_missing(struct report *report) {
    report_tell_left_out(report);
    if (report->session_count) return;
    if (report->options.session)
        miss_session(report);
    else if (!report_errors_any(&report->errors))
        miss_everything(report);
}
