#include "server/storage/json_answer.h"

#include "server/json_read.h"

json_t *json_answer_read(struct bytes body) {
    json_t *document = json_read(body, 0, NULL);
    if (json_is_object(document)) return document;
    json_decref(document);
    return NULL;
}

const char *json_answer_text(const json_t *object, const char *key, struct arena *arena) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? arena_string(arena, bytes_of(text)) : NULL;
}
