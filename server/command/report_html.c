#include "server/command/report_html.h"

#include <stdio.h>
#include <unistd.h>

#include "server/api/api_routes.h"
#include "server/app.h"
#include "server/saving/saved_lists.h"
#include "server/saving/saved_tools.h"
#include "server/text/printable.h"
#include "server/text/query_text.h"

enum { CACHE_BYTES = 160 << 20 };

struct html_report {
    const struct report_options *options;
    struct work work;
    struct app app;
    struct saved_page page;
    struct saved_view view;
};

// --- Which view ---

// The session that was asked for, else the newest one with profiles, else a device memory profile.
static bool find_session(struct html_report *r, struct error *error) {
    bool is_profile = r->options->tool == REPORT_MEMORY_PROFILE;
    r->view.session = r->options->session;
    r->view.tool = is_profile ? "memory_profile" : "memory_viewer";
    if (!r->view.session && !saved_lists_newest(&r->page, "sessions", &r->view.session, error)) return false;
    if (r->view.session) return true;
    r->view.tool = "device_memory";
    if (!saved_lists_newest(&r->page, "device_memory", &r->view.session, error)) return false;
    return r->view.session || error_set(error, ERROR_NOT_FOUND,
                                        "There are no profiles here; give a log folder (one that holds "
                                        "plugins/profile), a session folder or a *.xplane.pb file.");
}

static const char *address_of(const struct html_report *r) {
    struct text_writer text = {.arena = r->page.arena};
    query_put(&text, "?run=", r->view.session);
    query_put(&text, "&tag=", r->view.tool);
    if (r->view.host) query_put(&text, "&host=", r->view.host);
    if (r->view.memory_id) query_put(&text, "&memory_id=", r->view.memory_id);
    if (r->view.module) query_put(&text, "&module_name=", r->view.module);
    return text_writer_finish(&text);
}

// --- The file ---

static bool put_page(struct html_report *r, struct output *output, struct error *error) {
    const struct report_options *options = r->options;
    if (!saved_page_begin(&r->page, &r->app, &r->work, error)) return false;
    r->view = (struct saved_view){.module = options->module, .host = options->host, .memory_id = options->memory_id};
    if (!find_session(r, error) || !saved_view_put(&r->page, &r->view, error)) return false;
    const char *tools[] = {r->view.tool, NULL}, *address = address_of(r);
    if (!address) return work_out_of_memory(error);
    return saved_page_write(&r->page, address, tools, output, error);
}

// What could not be read is an error; what the page has no room for is said.
static void tell_left_out(struct html_report *r, struct report_errors *errors) {
    for (size_t i = 0; i < r->page.left_out_count; i++)
        fprintf(stderr, "hbmview: %s\n", printable_text(bytes_of(r->page.left_out[i]), r->page.arena));
    for (size_t i = 0; i < r->page.missed_count; i++)
        report_errors_say(errors, ERROR_UNREADABLE, NULL, "%s", r->page.missed[i]);
}

// The session that was meant may be among what could not be listed.
static void tell_unlisted(struct html_report *r, struct report_errors *errors) {
    struct error ignored;
    const struct catalog *catalog = store_catalog(r->app.store, &r->work, false, &ignored);
    for (size_t i = 0; catalog && i < catalog->left_out_count; i++) {
        const struct input_remark *remark = &catalog->left_out[i];
        if (remark->is_fault) report_errors_say(errors, ERROR_UNREADABLE, remark->path, "%s", remark->reason);
    }
}

static enum exit_code write_page(struct html_report *r) {
    struct error error;
    struct report_sink sink;
    struct report_errors errors = {.arena = &r->work.arena};
    report_sink_init(&sink, STDOUT_FILENO);
    if (put_page(r, &sink.output, &error)) {
        progress_hide(r->options->progress);
        tell_left_out(r, &errors);
        tell_unlisted(r, &errors);
    } else {
        sink.output.size = 0;  // no half of a page
        report_errors_add(&errors, &error);
    }
    saved_page_free(&r->page);
    progress_end(r->options->progress);
    enum exit_code code = command_ends(&sink, &errors, "page");
    report_sink_free(&sink);
    return code;
}

static enum exit_code run_on(struct html_report *r) {
    r->app.summaries = module_summaries_new(r->app.cache, r->app.store);
    if (!r->app.summaries) return command_complain(EXIT_CODE_UNREADABLE, "There is not enough memory to start.");
    enum exit_code code = write_page(r);
    module_summaries_free(r->app.summaries);
    return code;
}

enum exit_code report_html_run(const struct report_options *options) {
    struct options serving = {.logdir = options->path};
    struct html_report r = {.options = options};
    if (isatty(STDOUT_FILENO))
        return command_complain(EXIT_CODE_USAGE,
                                "A page is no text for a terminal; hbmview report PATH --format=html > report.html");
    r.app = (struct app){.options = &serving,
                         .ask_api = api_answer,
                         .cache = cache_new(CACHE_BYTES, 1),
                         .store = store_new(options->path, &options->storage)};
    if (r.app.store && options->follow_symlinks) store_follow_links(r.app.store);
    work_init(&r.work, r.app.cache);
    r.work.reading = progress_reading(options->progress);
    enum exit_code code = r.app.cache && r.app.store
                              ? run_on(&r)
                              : command_complain(EXIT_CODE_UNREADABLE, "There is not enough memory to start.");
    work_free(&r.work);
    store_free(r.app.store);
    cache_free(r.app.cache);
    return code;
}
