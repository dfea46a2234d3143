#include "server/api/api.h"

#include <jansson.h>
#include <string.h>

#include "server/app.h"
#include "server/http/access.h"
#include "server/saving/saved_comparison.h"
#include "server/saving/saved_tools.h"
#include "server/json_read.h"

// XProf's tags may go on behind the name ("memory_viewer@...").
static bool read_tool(const struct request *request, const char **tool, struct error *error) {
    static const char *const tools[] = {"memory_viewer", "memory_profile", "device_memory",
                                        "compare",       "trend",          "out_of_memory"};
    const char *tag = request_given(request, "tag");
    *tool = tag ? NULL : tools[0];
    for (size_t i = 0; tag && i < sizeof tools / sizeof tools[0]; i++) {
        if (strncmp(tag, tools[i], strlen(tools[i])) == 0) *tool = tools[i];
    }
    return *tool ||
           error_set(error, ERROR_BAD_REQUEST,
                     "\"tag\" must be memory_viewer, memory_profile, device_memory, compare, trend or out_of_memory.");
}

// The capacity as the page asks: in bytes.
static bool read_capacity(struct request *request, struct saved_view *view, struct error *error) {
    int64_t bytes;
    if (!request_capacity(request, -1, &bytes, error)) return false;
    if (bytes >= 0) view->capacity = arena_printf(&request->work.arena, "%lld", (long long)bytes);
    return true;
}

// Where the page stands; XProf's names of things are the page's to translate.
static bool read_place(struct request *request, struct saved_view *view, struct error *error) {
    *view = (struct saved_view){.session = request_given(request, "run"),
                                .module = request_given(request, "module_name"),
                                .host = request_given(request, "host"),
                                .memory_id = request_given(request, "memory_id"),
                                .memory_space = request_given(request, "memory_space"),
                                .session_b = request_given(request, "run_b"),
                                .module_b = request_given(request, "module_b"),
                                .host_b = request_given(request, "host_b"),
                                .file = request_given(request, "file")};
    const char *target = access_plain_target(request->target, &request->work.arena);
    const char *query = target ? strchr(target, '?') : NULL;
    view->address = query ? query : "";
    if (!read_tool(request, &view->tool, error)) return false;
    if (strcmp(view->tool, "out_of_memory") == 0) return read_capacity(request, view, error);
    return request_need(request, "run", &view->session, error);
}

// The page remembers 200 of them.
enum { ASKED_MAX = 1000 };

// As a tree: a log is copied three times while it is read.
enum { BODY_COPIES = 4, BODY_BESIDE_BYTES = 4 << 20 };

static json_t *parse_body(struct bytes body, json_error_t *fault) {
    if (!body.size) return json_object();
    return json_read_within(body, 0, BODY_COPIES * body.size + BODY_BESIDE_BYTES, fault);
}

// {"asked": ["memory_view/groups?by=source&step=12", ...], "log": "RESOURCE_EXHAUSTED: ..."}
static bool read_body(const json_t *body, struct arena *arena, struct saved_view *view, struct error *error) {
    const json_t *list = json_object_get(body, "asked");
    if (json_array_size(list) > ASKED_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "\"asked\" holds at most %d addresses.", ASKED_MAX);
    const char **asked = arena_push_raw(arena, json_array_size(list), sizeof *asked);
    if (!asked) return work_out_of_memory(error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *one = json_string_value(json_array_get(list, i));
        if (!one) return error_set(error, ERROR_BAD_REQUEST, "\"asked\" holds addresses of replies only.");
        asked[i] = one;
    }
    view->asked = asked;
    view->asked_count = json_array_size(list);
    view->log = json_string_value(json_object_get(body, "log"));
    if (strcmp(view->tool, "compare") == 0) saved_comparison_complete(view, arena);
    return true;
}

static bool write_page(struct request *request, const struct saved_view *view, struct output *output,
                       struct error *error) {
    struct saved_page page;
    bool is_good = saved_page_begin(&page, request->app, &request->work, error) && saved_view_put(&page, view, error);
    const char *tools[] = {view->tool, page.other_tool, NULL};
    is_good = is_good && saved_page_write(&page, view->address, tools, output, error);
    saved_page_free(&page);
    return is_good;
}

// A page takes as long to put together as what is loaded takes: as many at once as those, and by turns.
static bool write_in_turn(struct request *request, const struct saved_view *view, struct output *output,
                          struct error *error) {
    struct work *work = &request->work;
    const struct load_wish wish = {.lane = LOAD_MADE};
    struct load_wish outer;
    if (!work_may_load(work)) return error_set(error, ERROR_STOPPED, "The page has to be put together first.");
    cache_take_slot(work->cache, wish, work->reading, &outer);
    bool is_good = reading_goes_on(work->reading, "", error) && write_page(request, view, output, error);
    cache_give_slot(work->cache, wish, &outer);
    return is_good;
}

static bool answer(struct request *request, const json_t *body, struct reply *reply, struct error *error) {
    struct arena *arena = &request->work.arena;
    struct saved_view view;
    struct output *output = reply_output(request, error);
    if (!output || !read_place(request, &view, error) || !read_body(body, arena, &view, error) ||
        !write_in_turn(request, &view, output, error))
        return false;
    const char *name = saved_view_name(&view, arena);
    reply->disposition = name ? arena_printf(arena, "attachment; filename=\"%s\"", name) : NULL;
    return reply_written(reply, REPLY_HTML, output, error);
}

bool api_save(struct request *request, struct reply *reply, struct error *error) {
    json_error_t fault = {.text = ""};
    json_t *body = parse_body(request->body, &fault);
    bool is_good = json_is_object(body) ? answer(request, body, reply, error)
                                        : error_set(error, ERROR_BAD_REQUEST,
                                                    "The body must be JSON: {\"asked\": [...]}, or nothing%s%.100s.",
                                                    fault.text[0] ? ": " : "", fault.text);
    json_decref(body);
    return is_good;
}
