#include "server/mcp/mcp_place.h"

#include <string.h>

#include "server/text/known_names.h"

// --- Sessions ---

// *is_unsure: it may have it, for all that is known; some of it cannot be read.
static bool has_tool(struct mcp_call *call, const char *session, const char *tool, bool *is_unsure) {
    struct error error;
    bool has = false;
    size_t i;
    json_t *one, *glance = mcp_ask(call, "session", (struct request_argument[]){{"session", session}, {0}}, &error);
    json_array_foreach(json_object_get(glance, "tools"), i, one) has = has || !strcmp(json_string_value(one), tool);
    if (!glance || json_integer_value(json_object_get(glance, "unreadable_files"))) *is_unsure = true;
    json_decref(glance);
    return has;
}

// The newest of them that has the tool; a session of device memory profiles alone has that.
static const char *newest(struct mcp_call *call, const json_t *sessions, const char *tool, bool *is_unsure) {
    enum { LOOK_AT_MOST = 64 };
    bool is_device_memory = strcmp(tool, "device_memory") == 0;
    const json_t *list = json_object_get(sessions, "sessions"), *alone = json_object_get(sessions, "device_memory");
    for (size_t i = 0; i < json_array_size(list) && i < LOOK_AT_MOST; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (has_tool(call, name, tool, is_unsure)) return arena_printf(call->arena, "%s", name);
    }
    const char *name = json_string_value(json_object_get(json_array_get(alone, 0), "name"));
    return is_device_memory && name ? arena_printf(call->arena, "%s", name) : NULL;
}

bool mcp_find_session(struct mcp_call *call, const char *asked, const char *tool, const char **session,
                      struct error *error) {
    *session = asked;
    if (asked) return true;
    json_t *sessions = mcp_ask(call, "sessions", NULL, error);
    if (!sessions) return false;
    bool is_unsure = json_array_size(json_object_get(sessions, "left_out")) != 0;
    *session = newest(call, sessions, tool, &is_unsure);
    json_decref(sessions);
    if (!*session)
        return error_set(error, is_unsure ? ERROR_UNREADABLE : ERROR_NOT_FOUND,
                         "None of the newest sessions has something for %s%s; the tool \"sessions\" lists them.", tool,
                         is_unsure ? ", as far as they can be read" : "");
    const char *said = arena_printf(call->arena, "No session was named: this is the newest one, %s.", *session);
    if (said) mcp_caveat(call, said);
    return true;
}

// --- Programs ---

json_int_t mcp_module_peak(const json_t *row) {
    const json_t *space = json_array_get(json_object_get(row, "memory_spaces"), 0);
    return space ? json_integer_value(json_object_get(space, "peak_bytes")) : -1;
}

static const char *text_of(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static bool is_meant(const json_t *row, const char *asked) {
    return !asked || !strcmp(text_of(row, "name"), asked) || !strcmp(text_of(row, "module_name"), asked);
}

static const json_t *largest(const json_t *rows, const char *asked) {
    const json_t *best = NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!is_meant(row, asked)) continue;
        if (asked && !strcmp(text_of(row, "name"), asked)) return row;
        if (!best || mcp_module_peak(row) > mcp_module_peak(best)) best = row;
    }
    return best;
}

// Of the first host whose programs could not be read; NULL: there is none.
static const json_t *fault_of(const json_t *hosts) {
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        const json_t *fault = json_object_get(json_array_get(hosts, i), "error");
        if (json_is_object(fault)) return fault;
    }
    return NULL;
}

static bool tell_missing(struct mcp_call *call, const json_t *list, const char *session, const char *asked,
                         struct error *error) {
    const json_t *rows = json_object_get(list, "modules"), *fault = fault_of(json_object_get(list, "hosts"));
    struct known_names names = {0};
    if (fault)
        return error_set(error, error_code_of(text_of(fault, "code")), "Not all of session %.100s can be read: %.300s",
                         session, text_of(fault, "message"));
    for (size_t i = 0; i < json_array_size(rows); i++)
        known_names_add(&names, bytes_of(text_of(json_array_get(rows, i), "name")), call->arena);
    if (!json_array_size(rows))
        return error_set(error, ERROR_NOT_FOUND,
                         "Session %.100s has no compiled programs; ask report with tool "
                         "\"memory_profile\" or \"device_memory\".",
                         session);
    return error_set(error, ERROR_NOT_FOUND, "Session %.100s has no module \"%.100s\"; it has %.250s.", session, asked,
                     known_names_text(&names, KNOWN_NAMES_MAX, call->arena));
}

bool mcp_find_module(struct mcp_call *call, const char *session, const char *asked, const char **module,
                     struct error *error) {
    struct request_argument query[] = {{"session", session}, {0}};
    json_t *list = mcp_ask_until_complete(call, "modules", query, error);
    if (!list) return false;
    const json_t *rows = json_object_get(list, "modules"), *row = largest(rows, asked);
    bool is_found = row || tell_missing(call, list, session, asked, error);
    *module = is_found ? arena_printf(call->arena, "%s", text_of(row, "name")) : NULL;
    bool is_chosen = is_found && !asked && json_array_size(rows) > 1;
    const char *said = is_chosen ? arena_printf(call->arena, "No module was named: of %zu, %s has the highest peak.",
                                                json_array_size(rows), *module)
                                 : NULL;
    if (said) mcp_caveat(call, said);
    json_decref(list);
    return is_found && (*module || error_set(error, ERROR_TOO_BIG, "There is not enough memory."));
}

bool mcp_find_place(struct mcp_call *call, struct mcp_place *place, struct error *error) {
    *place = (struct mcp_place){.host = mcp_text(call, "host")};
    return mcp_find_session(call, mcp_text(call, "session"), "memory_viewer", &place->session, error) &&
           mcp_find_module(call, place->session, mcp_text(call, "module"), &place->module, error);
}
