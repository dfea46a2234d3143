#include <jansson.h>

#include "analysis/base/text_scan.h"
#include "server/storage/object_page.h"
#include "server/json_read.h"

static bool is_too_big(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left for a list of objects");
}

static struct bytes text_at(const json_t *object, const char *key) {
    const json_t *text = json_object_get(object, key);
    if (!json_is_string(text)) return (struct bytes){0};
    return (struct bytes){(const uint8_t *)json_string_value(text), json_string_length(text)};
}

static bool add_item(const json_t *item, struct arena *arena, struct object_page *page, struct error *error) {
    struct bytes name = text_at(item, "name"), size = text_at(item, "size");
    struct stored_object object = {.pin = arena_string(arena, text_at(item, "generation")),
                                   .modified_s = object_time(text_at(item, "updated"))};
    int64_t size_bytes;
    if (!object.pin) return is_too_big(error);
    if (!text_take_int64(&size, &size_bytes) || size_bytes < 0 || size.size)
        return error_set(error, ERROR_MALFORMED, "expected a size for each object in a list of objects");
    object.size_bytes = (uint64_t)size_bytes;
    return object_page_add(page, name, &object, arena) || is_too_big(error);
}

static bool add_folder(const json_t *prefix, struct arena *arena, struct object_page *page, struct error *error) {
    if (!json_is_string(prefix)) return error_set(error, ERROR_MALFORMED, "expected \"prefixes\" as a list of names");
    struct bytes name = {(const uint8_t *)json_string_value(prefix), json_string_length(prefix)};
    return object_page_add_folder(page, name, arena) || is_too_big(error);
}

static bool read_document(const json_t *document, struct arena *arena, struct object_page *page, struct error *error) {
    const json_t *items = json_object_get(document, "items"), *prefixes = json_object_get(document, "prefixes");
    if (!json_is_object(document) || (items && !json_is_array(items)))
        return error_set(error, ERROR_MALFORMED, "expected an object with \"items\" as a list of objects");
    for (size_t i = 0; i < json_array_size(items); i++) {
        if (!add_item(json_array_get(items, i), arena, page, error)) return false;
    }
    if (prefixes && !json_is_array(prefixes))
        return error_set(error, ERROR_MALFORMED, "expected \"prefixes\" as a list of names");
    for (size_t i = 0; i < json_array_size(prefixes); i++) {
        if (!add_folder(json_array_get(prefixes, i), arena, page, error)) return false;
    }
    return object_page_goes_on(page, text_at(document, "nextPageToken"), arena, error);
}

bool object_page_of_gcs(struct bytes answer, struct arena *arena, struct object_page *page, struct error *error) {
    json_error_t fault;
    *page = (struct object_page){0};
    json_t *document = json_read(answer, JSON_ALLOW_NUL, &fault);
    if (!document)
        return error_at(error, ERROR_MALFORMED, fault.position, "expected JSON in a list of objects: %.160s",
                        fault.text);
    bool is_good = read_document(document, arena, page, error);
    json_decref(document);
    return is_good;
}
