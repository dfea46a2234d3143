#include "server/saving/saved_faults.h"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const json_t *fault_of(const json_t *row) {
    const json_t *fault = json_object_get(row, "error");
    return json_is_object(fault) ? fault : NULL;
}

static void tell_fault(struct saved_page *page, const char *resource, const json_t *fault) {
    saved_page_miss(page, arena_printf(page->arena, "%.60s: %.300s: %.300s", resource, text_of(fault, "file"),
                                       text_of(fault, "message")));
}

void saved_faults_tell(struct saved_page *page, const char *resource, const json_t *reply) {
    static const char *const lists[] = {"hosts", "files"};
    json_int_t unreadable = json_integer_value(json_object_get(reply, "unreadable_files"));
    size_t i;
    json_t *row;
    for (size_t n = 0; n < sizeof lists / sizeof lists[0]; n++) {
        json_array_foreach(json_object_get(reply, lists[n]), i, row) {
            if (fault_of(row)) tell_fault(page, resource, fault_of(row));
        }
    }
    if (unreadable > 0)
        saved_page_miss(page, arena_printf(page->arena, "%.60s: %lld of the session's files could not be read.",
                                           resource, (long long)unreadable));
}

bool saved_faults_no_module(const json_t *modules, const char *session, const char *module, struct error *error) {
    size_t i;
    json_t *host;
    json_array_foreach(json_object_get(modules, "hosts"), i, host) {
        const json_t *fault = fault_of(host);
        if (!fault) continue;
        error_set(error, error_code_of(text_of(fault, "code")),
                  "There is no module \"%.100s\" in what could be read: %.300s", module, text_of(fault, "message"));
        return error_in_file(error, text_of(fault, "file"), 0);
    }
    return error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" has no module \"%.100s\".", session, module);
}
