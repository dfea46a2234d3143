#include "server/saving/saved_lists.h"

#include <string.h>

#include "server/saving/saved_faults.h"

static const struct saved_ask sessions_ask = {"sessions", {{NULL, NULL}}};

static bool is_named(const json_t *row, const char *name) {
    const char *one = json_string_value(json_object_get(row, "name"));
    return one && name && strcmp(one, name) == 0;
}

// Nobody asks for what is new: the same view is the same file, whatever else there is.
static void forget_version(json_t *thing) {
    json_object_set_new(thing, "version", json_string(""));
}

static void keep_named(json_t *list, const char *a, const char *b) {
    for (size_t i = json_array_size(list); i-- > 0;) {
        json_t *row = json_array_get(list, i);
        forget_version(row);
        if (!is_named(row, a) && !is_named(row, b)) json_array_remove(list, i);
    }
}

// What the page asks of any session: which of its tools have data.
static bool put_glance(struct saved_page *page, const char *session, struct error *error) {
    struct saved_ask glance = {"session", {{"session", session}, {NULL, NULL}}};
    if (!session || saved_page_holds(page, &glance)) return true;
    json_t *reply = saved_page_ask(page, &glance, error);
    if (!reply) return saved_page_do_without(page, &glance, error);
    saved_faults_tell(page, glance.resource, reply);
    bool is_good = saved_page_keep(page, &glance, NULL, reply, error);
    json_decref(reply);
    return is_good;
}

static bool put_devices(struct saved_page *page, struct error *error) {
    struct saved_ask devices = {"devices", {{NULL, NULL}}};
    return saved_page_add(page, &devices, error);
}

// It may be among what could not be listed.
static bool no_such_session(const json_t *left_out, const char *name, struct error *error) {
    const json_t *first = json_array_get(left_out, 0);
    if (!first) return error_set(error, ERROR_NOT_FOUND, "There is no session \"%.160s\".", name);
    return error_set(error, ERROR_UNREADABLE, "There is no session \"%.160s\" in what could be listed; %.200s: %.200s",
                     name, json_string_value(json_object_get(first, "path")),
                     json_string_value(json_object_get(first, "reason")));
}

static bool has_session(const json_t *reply, const char *name, struct error *error) {
    const json_t *profiles = json_object_get(reply, "sessions"), *others = json_object_get(reply, "device_memory");
    for (size_t i = 0; i < json_array_size(profiles) + json_array_size(others); i++) {
        const json_t *row = json_array_get(profiles, i);
        if (is_named(row ? row : json_array_get(others, i - json_array_size(profiles)), name)) return true;
    }
    return !name || no_such_session(json_object_get(reply, "left_out"), name, error);
}

bool saved_lists_put_sessions(struct saved_page *page, const char *a, const char *b, struct error *error) {
    json_t *reply = saved_page_ask(page, &sessions_ask, error);
    if (!reply) return false;
    bool is_good = has_session(reply, a, error) && has_session(reply, b, error);
    keep_named(json_object_get(reply, "sessions"), a, b);
    keep_named(json_object_get(reply, "device_memory"), a, b);
    json_object_set_new(reply, "logdir", json_string(""));
    forget_version(reply);
    json_array_clear(json_object_get(reply, "pending"));
    json_array_clear(json_object_get(reply, "left_out"));
    is_good = is_good && saved_page_keep(page, &sessions_ask, NULL, reply, error);
    json_decref(reply);
    return is_good && put_glance(page, a, error) && put_glance(page, b, error) && put_devices(page, error);
}

bool saved_lists_put_session(struct saved_page *page, const char *session, struct error *error) {
    return saved_lists_put_sessions(page, session, NULL, error);
}

bool saved_lists_newest(struct saved_page *page, const char *list, const char **session, struct error *error) {
    json_t *reply = saved_page_ask(page, &sessions_ask, error);
    if (!reply) return false;
    const char *name = json_string_value(json_object_get(json_array_get(json_object_get(reply, list), 0), "name"));
    *session = name ? arena_printf(page->arena, "%s", name) : NULL;
    json_decref(reply);
    return true;
}

bool saved_lists_put_modules(struct saved_page *page, const char *session, json_t *modules, json_t *rows,
                             struct error *error) {
    struct saved_ask ask = {"modules", {{"session", session}, {NULL, NULL}}};
    json_object_set(modules, "modules", rows);
    json_object_set_new(modules, "complete", json_true());
    forget_version(modules);
    return saved_page_keep(page, &ask, NULL, modules, error);
}
