#include "server/text/answer_schema.h"

#include <string.h>

static const char *skip(const char *at) {
    return at + strspn(at, ", ");
}

// Where the type that begins at `at` ends, before its "?".
static const char *type_end(const char *at) {
    int depth = 0;
    for (;; at++) {
        depth += (*at && strchr("{[<", *at)) - (*at && strchr("}]>", *at));
        if (!*at) return at;
        if (depth == 0) return at + 1;
    }
}

static const char *json_type_of(char letter) {
    switch (letter) {
        case 's':
            return "string";
        case 'i':
            return "integer";
        case 'n':
            return "number";
        case 'b':
            return "boolean";
        case '[':
            return "array";
        default:
            return "object";
    }
}

static void write_type_names(const char *name, bool or_null, struct json_writer *w) {
    const char *const names[] = {name, "null"};
    if (or_null)
        json_write_texts_key(w, "type", names, 2);
    else
        json_write_text_key(w, "type", name);
}

static const char *write_type(const char *at, struct json_writer *w);

static const char *write_members(const char *at, struct json_writer *w) {
    const char *members = at;
    json_open_object_key(w, "properties");
    for (at = skip(at); *at != '}'; at = skip(at)) {
        size_t size = strcspn(at, "?:");
        json_write_string(w, (struct bytes){(const uint8_t *)at, size});
        json_end_key(w);
        at = write_type(skip(at + size + strspn(at + size, "?:")), w);
    }
    json_close_object(w);
    json_open_array_key(w, "required");
    for (at = skip(members); *at != '}'; at = skip(at)) {
        size_t size = strcspn(at, "?:");
        if (at[size] == ':') json_write_string(w, (struct bytes){(const uint8_t *)at, size});
        at = type_end(skip(at + size + strspn(at + size, "?:")));
        at += *at == '?';
    }
    json_close_array(w);
    return at + 1;
}

static const char *write_inside(const char *at, struct json_writer *w) {
    if (*at == '{') return write_members(at + 1, w);
    json_key(w, *at == '[' ? "items" : "additionalProperties");
    return write_type(at + 1, w) + 1;
}

// Returns what follows the type.
static const char *write_type(const char *at, struct json_writer *w) {
    const char *end = type_end(at);
    bool is_nested = strchr("{[<", *at) != NULL, or_null = *end == '?';
    json_open_object(w);
    if (*at != '*') write_type_names(json_type_of(*at), or_null, w);
    if (*at == 'i') json_write_text_key(w, "format", "int64");
    if (is_nested) write_inside(at, w);
    json_close_object(w);
    return end + or_null;
}

void answer_schema_write(const char *form, struct json_writer *w) {
    write_type(form, w);
}
