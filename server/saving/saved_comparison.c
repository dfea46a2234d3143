#include "server/saving/saved_comparison.h"

#include <string.h>

#include "server/saving/saved_faults.h"
#include "server/saving/saved_lists.h"
#include "server/text/query_text.h"

// As many groups and buffers as the page asks for (web/js/tools/compare/tool.js).
static const char TOP[] = "2000";

// --- Which programs ---

static const char *value_of(const struct saved_ask *ask, const char *name) {
    for (const struct request_argument *one = ask->query; one->name; one++) {
        if (strcmp(one->name, name) == 0) return one->value;
    }
    return NULL;
}

static const char *whole_address(const struct saved_view *view, const struct saved_view *given, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    text_put(&text, view->address);
    if (!given->module) query_put(&text, "&module_name=", view->module);
    if (!given->session_b) query_put(&text, "&run_b=", view->session_b);
    if (!given->module_b) query_put(&text, "&module_b=", view->module_b);
    const char *address = text_writer_finish(&text);
    return address ? address : view->address;
}

void saved_comparison_complete(struct saved_view *view, struct arena *arena) {
    const struct saved_view given = *view;
    struct saved_ask last = {0}, ask;
    for (size_t i = 0; i < view->asked_count; i++) {
        if (saved_ask_read(arena, view->asked[i], &ask) && strcmp(ask.resource, "diff") == 0) last = ask;
    }
    if (!view->module) view->module = value_of(&last, "module");
    if (!view->session_b) view->session_b = value_of(&last, "session_b");
    if (!view->module_b) view->module_b = value_of(&last, "module_b");
    if (view->module && view->session_b && view->module_b) view->address = whole_address(view, &given, arena);
}

// --- What is asked of them ---

static json_t *modules_of(struct saved_page *page, const char *session, struct error *error) {
    struct saved_ask ask = {"modules", {{"session", session}, {NULL, NULL}}};
    return saved_page_ask(page, &ask, error);
}

static bool keep_rows(json_t *rows, const json_t *modules, const char *session, const char *name, struct error *error) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(modules, "modules"), i, row) {
        const char *one = json_string_value(json_object_get(row, "name"));
        if (!one || strcmp(one, name) != 0) continue;
        json_array_append(rows, row);
        return true;
    }
    return saved_faults_no_module(modules, session, name, error);
}

// The modules of a session that are compared; `other` is another of the same, or NULL.
static bool put_modules(struct saved_page *page, const char *session, const char *name, const char *other,
                        struct error *error) {
    json_t *modules = modules_of(page, session, error), *rows = json_array();
    bool is_good = modules && rows && keep_rows(rows, modules, session, name, error) &&
                   (!other || keep_rows(rows, modules, session, other, error)) &&
                   saved_lists_put_modules(page, session, modules, rows, error);
    json_decref(rows);
    json_decref(modules);
    return is_good;
}

static bool put_lists(struct saved_page *page, const struct saved_view *view, struct error *error) {
    bool is_same = strcmp(view->session, view->session_b) == 0;
    bool is_other = is_same && strcmp(view->module, view->module_b) != 0;
    return saved_lists_put_sessions(page, view->session, view->session_b, error) &&
           put_modules(page, view->session, view->module, is_other ? view->module_b : NULL, error) &&
           (is_same || put_modules(page, view->session_b, view->module_b, NULL, error));
}

static bool put_changes(struct saved_page *page, const struct saved_view *view, struct error *error) {
    static const char *const ways[] = {"source",   "stack", "scope", "argument", "phase",
                                       "category", "dtype", "shape", "opcode"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct saved_ask ask = {"diff",
                                {{"session", view->session},
                                 {"module", view->module},
                                 {"host", view->host},
                                 {"memory_space", view->memory_space},
                                 {"session_b", view->session_b},
                                 {"module_b", view->module_b},
                                 {"host_b", view->host_b},
                                 {"by", ways[i]},
                                 {"top", TOP},
                                 {NULL, NULL}}};
        json_t *reply = saved_page_ask(page, &ask, error);  // a refusal has words, where an empty page would have none
        bool is_good = reply && saved_page_keep(page, &ask, NULL, reply, error);
        json_decref(reply);
        if (!is_good) return false;
    }
    return true;
}

static bool put_overview(struct saved_page *page, const char *session, const char *module, const char *host,
                         const char *space, struct error *error) {
    struct saved_ask ask = {
        "memory_view/overview",
        {{"session", session}, {"module", module}, {"host", host}, {"memory_space", space}, {NULL, NULL}}};
    return saved_page_holds(page, &ask) || saved_page_add(page, &ask, error);
}

bool saved_comparison_put(struct saved_page *page, const struct saved_view *view, struct error *error) {
    if (!view->module || !view->session_b || !view->module_b)
        return error_set(error, ERROR_BAD_REQUEST,
                         "A comparison is of two programs: name them by run, module_name, run_b and module_b.");
    struct saved_ask advice = {
        "advise", {{"session", view->session}, {"module", view->module}, {"host", view->host}, {NULL, NULL}}};
    return put_lists(page, view, error) && put_changes(page, view, error) &&
           put_overview(page, view->session, view->module, view->host, view->memory_space, error) &&
           put_overview(page, view->session_b, view->module_b, view->host_b, view->memory_space, error) &&
           saved_page_add(page, &advice, error);
}
