#include "server/saving/saved_lists.h"

#include <string.h>

static const struct saved_ask sessions_ask = {"sessions", {{NULL, NULL}}};

static void keep_named(json_t *list, const char *name) {
    for (size_t i = json_array_size(list); i-- > 0;) {
        const char *one = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (!one || strcmp(one, name) != 0) json_array_remove(list, i);
    }
}

// What the page asks of any session: which of its tools have data, and what devices have.
static bool put_glance(struct saved_page *page, const char *session, struct error *error) {
    struct saved_ask glance = {"session", {{"session", session}, {NULL, NULL}}}, devices = {"devices", {{NULL, NULL}}};
    return saved_page_add(page, &glance, error) && saved_page_add(page, &devices, error);
}

bool saved_lists_put_session(struct saved_page *page, const char *session, struct error *error) {
    json_t *reply = saved_page_ask(page, &sessions_ask, error);
    if (!reply) return false;
    json_t *profiles = json_object_get(reply, "sessions"), *others = json_object_get(reply, "device_memory");
    keep_named(profiles, session);
    keep_named(others, session);
    json_object_set_new(reply, "logdir", json_string(""));
    json_array_clear(json_object_get(reply, "pending"));
    json_array_clear(json_object_get(reply, "left_out"));
    bool is_there = json_array_size(profiles) + json_array_size(others) > 0;
    bool is_good = is_there ? saved_page_keep(page, &sessions_ask, NULL, reply, error)
                            : error_set(error, ERROR_NOT_FOUND, "There is no session \"%.160s\".", session);
    json_decref(reply);
    return is_good && put_glance(page, session, error);
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
    return saved_page_keep(page, &ask, NULL, modules, error);
}
