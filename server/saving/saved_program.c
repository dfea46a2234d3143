#include "server/saving/saved_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/saving/saved_faults.h"
#include "server/saving/saved_lists.h"

// One memory type of one module.
struct place {
    const char *session, *module, *host, *space;
};

#define OF_PLACE(p)                                                                                                    \
    {"session", (p)->session}, {"module", (p)->module}, {"host", (p)->host}, {                                         \
        "memory_space", (p)->space                                                                                     \
    }

static bool put_groups(struct saved_page *page, const struct place *place, bool is_hbm, struct error *error) {
    static const char *const ways[] = {"source",   "stack", "scope", "argument", "phase",
                                       "category", "dtype", "shape", "opcode"};
    for (size_t i = 0; i < (is_hbm ? sizeof ways / sizeof ways[0] : 1); i++) {
        struct saved_ask ask = {"memory_view/groups", {OF_PLACE(place), {"by", ways[i]}, {NULL, NULL}}};
        struct saved_ask rows = ask;
        rows.resource = "memory_view/groups/rows";
        if (!saved_page_add(page, &ask, error) || !saved_page_add(page, &rows, error)) return false;
    }
    return true;
}

// The details of many buffers come in one reply; each is asked for by its id.
static bool put_buffers(struct saved_page *page, const struct place *place, struct error *error) {
    struct saved_ask all = {"buffers", {OF_PLACE(place), {NULL, NULL}}};
    struct saved_ask one = {"buffer", {OF_PLACE(place), {NULL, NULL}}};
    json_t *reply = saved_page_ask(page, &all, error);
    if (!reply) return saved_page_do_without(page, &all, error);
    json_int_t left = json_integer_value(json_object_get(reply, "left_out"));
    if (left > 0)
        saved_page_leave_out(page,
                             arena_printf(page->arena, "The details of %lld smaller buffers of %.200s are not in it.",
                                          (long long)left, place->module));
    bool is_good = saved_page_keep(page, &one, "logical_buffer_id", json_object_get(reply, "buffers"), error);
    json_decref(reply);
    return is_good;
}

static bool put_columns(struct saved_page *page, const struct place *place, struct error *error) {
    struct saved_ask columns = {"memory_view", {OF_PLACE(place), {"delta", "1"}, {NULL, NULL}}};
    return saved_page_add(page, &columns, error) && put_groups(page, place, strcmp(place->space, "0") == 0, error) &&
           put_buffers(page, place, error);
}

static json_t *put_overview(struct saved_page *page, const struct place *place, struct error *error) {
    struct saved_ask ask = {"memory_view/overview", {OF_PLACE(place), {NULL, NULL}}};
    json_t *overview = saved_page_ask(page, &ask, error);
    if (overview && saved_page_keep(page, &ask, NULL, overview, error)) return overview;
    json_decref(overview);
    return NULL;
}

static bool put_space(struct saved_page *page, const struct place *place, struct error *error) {
    json_t *overview = put_overview(page, place, error);
    bool is_good = overview && put_columns(page, place, error);
    json_decref(overview);
    return is_good;
}

// HBM first: its overview tells the other memory types.
static bool put_module(struct saved_page *page, const struct place *place, json_t *row, struct error *error) {
    json_t *overview = put_overview(page, place, error), *space;
    if (!overview) return false;
    json_t *spaces = json_object_get(overview, "memory_spaces");
    struct saved_ask advice = {
        "advise", {{"session", place->session}, {"module", place->module}, {"host", place->host}, {NULL, NULL}}};
    bool is_good = put_columns(page, place, error) && saved_page_add(page, &advice, error);
    size_t i;
    json_array_foreach(spaces, i, space) {
        char number[24];
        struct place other = *place;
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(json_object_get(space, "space")));
        other.space = number;
        if (is_good && strcmp(number, "0") != 0) is_good = put_space(page, &other, error);
    }
    json_object_set_new(row, "state", json_string("ready"));
    json_object_set_new(row, "error", json_null());  // of the figures in the background, which the overview gave by now
    json_object_set(row, "memory_spaces", spaces);
    json_decref(overview);
    return is_good;
}

// --- Modules ---

static bool is_wanted(const struct saved_view *view, const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    const char *family = json_string_value(json_object_get(row, "module_name"));
    const char *host = json_string_value(json_object_get(row, "host"));
    if (!name || (view->host && host && strcmp(view->host, host) != 0)) return false;
    return !view->module || strcmp(view->module, name) == 0 || (family && strcmp(view->module, family) == 0);
}

static bool put_wanted(struct saved_page *page, const struct saved_view *view, json_t *modules, json_t *held,
                       struct error *error) {
    size_t i, left = 0;
    json_t *row;
    json_array_foreach(json_object_get(modules, "modules"), i, row) {
        if (!is_wanted(view, row)) continue;
        if (saved_page_bytes(page) > SAVED_VIEW_BYTES) {
            left++;
            continue;
        }
        struct place place = {view->session, json_string_value(json_object_get(row, "name")),
                              json_string_value(json_object_get(row, "host")), "0"};
        if (!put_module(page, &place, row, error)) return false;
        json_array_append(held, row);
    }
    if (left)
        saved_page_leave_out(page, arena_printf(page->arena, "%zu more modules of this session are not in it.", left));
    saved_faults_tell(page, "modules", modules);
    return json_array_size(held) > 0 ||
           saved_faults_no_module(modules, view->session, view->module ? view->module : "", error);
}

bool saved_program_put(struct saved_page *page, const struct saved_view *view, struct error *error) {
    struct saved_ask ask = {"modules", {{"session", view->session}, {NULL, NULL}}};
    json_t *modules = saved_page_ask(page, &ask, error), *held = json_array();
    bool is_good = modules && held && put_wanted(page, view, modules, held, error) &&
                   saved_lists_put_modules(page, view->session, modules, held, error);
    json_decref(held);
    json_decref(modules);
    return is_good;
}
