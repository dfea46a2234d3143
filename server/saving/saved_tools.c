#include "server/saving/saved_tools.h"

#include <string.h>

#include "server/saving/saved_comparison.h"
#include "server/saving/saved_explanation.h"
#include "server/saving/saved_faults.h"
#include "server/saving/saved_lists.h"
#include "server/saving/saved_profile.h"
#include "server/saving/saved_program.h"

// --- Device memory ---

static bool put_file(struct saved_page *page, const struct saved_view *view, const char *file, struct error *error) {
    struct saved_ask tree = {"device_memory/profile", {{"session", view->session}, {"file", file}, {NULL, NULL}}};
    return saved_page_add(page, &tree, error);
}

static bool put_device_memory(struct saved_page *page, const struct saved_view *view, struct error *error) {
    struct saved_ask list = {"device_memory", {{"session", view->session}, {NULL, NULL}}};
    json_t *files = saved_page_ask(page, &list, error);
    if (!files) return false;
    saved_faults_tell(page, list.resource, files);
    bool is_good = saved_page_keep(page, &list, NULL, files, error);
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(files, "files"), i, file) {
        const char *name = json_string_value(json_object_get(file, "name"));
        is_good = is_good && name && put_file(page, view, name, error);
    }
    json_decref(files);
    return is_good;
}

// --- What the page was answered besides ---

// Only what tells of the view: lists and the server itself stay out.
static bool may_be_held(const char *resource) {
    static const char *const kinds[] = {"memory_view", "memory_profile", "device_memory", "advise",
                                        "buffer",      "diff",           "trend"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(resource, kinds[i], strlen(kinds[i])) == 0) return true;
    }
    return false;
}

static bool put_asked(struct saved_page *page, const struct saved_view *view, struct error *error) {
    size_t before = saved_page_bytes(page);
    for (size_t i = 0; i < view->asked_count; i++) {
        struct saved_ask ask;
        if (!saved_ask_read(page->arena, view->asked[i], &ask) || !may_be_held(ask.resource)) continue;
        if (saved_page_holds(page, &ask)) continue;
        if (saved_page_bytes(page) - before > SAVED_VIEW_BYTES) {
            saved_page_leave_out(page, "Of what was looked at besides some is not in it.");
            return true;
        }
        if (!saved_page_add(page, &ask, error)) return false;
    }
    return true;
}

// --- All of it ---

static bool put_tool(struct saved_page *page, const struct saved_view *view, struct error *error) {
    if (strcmp(view->tool, "memory_profile") == 0) return saved_profile_put(page, view, error);
    if (strcmp(view->tool, "device_memory") == 0) return put_device_memory(page, view, error);
    return saved_program_put(page, view, error);
}

bool saved_view_put(struct saved_page *page, const struct saved_view *view, struct error *error) {
    if (strcmp(view->tool, "out_of_memory") == 0) return saved_explanation_put(page, view, error);
    if (strcmp(view->tool, "compare") == 0)
        return saved_comparison_put(page, view, error) && put_asked(page, view, error);
    if (strcmp(view->tool, "trend") == 0)  // of all sessions: what the page was told is all that it needs
        return saved_lists_put_session(page, view->session, error) && put_asked(page, view, error);
    return saved_lists_put_session(page, view->session, error) && put_tool(page, view, error) &&
           put_asked(page, view, error);
}

static char *plain_name(const struct saved_view *view, struct arena *arena) {
    const char *of = view->module ? view->module : view->tool;
    if (strcmp(view->tool, "out_of_memory") == 0) return arena_printf(arena, "out of memory.html");
    if (view->session_b)
        return arena_printf(arena, "%.60s %.60s to %.60s %.60s.html", view->session, of, view->session_b,
                            view->module_b ? view->module_b : "");
    return arena_printf(arena, "%.100s %.100s.html", view->session, of);
}

const char *saved_view_name(const struct saved_view *view, struct arena *arena) {
    char *name = plain_name(view, arena);
    for (char *at = name; at && *at; at++) {
        if (strchr("/\\:*?\"<>|;%", *at) || (unsigned char)*at < ' ' || (unsigned char)*at > '~') *at = '_';
    }
    return name;
}
