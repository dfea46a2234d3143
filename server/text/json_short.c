#include "server/text/json_short.h"

#include "server/json_read.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_BYTES = 96 };

static bool is_list_of_objects(const json_t *value) {
    return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

static void add(json_t *object, const char *key, json_int_t more) {
    json_object_set_new(object, key, json_integer(json_integer_value(json_object_get(object, key)) + more));
}

// Where `object` counts what is left out of the list: "left_out" of "rows", else "KEY_left_out".
static void count_left_out(json_t *object, const char *key, json_int_t count, json_int_t bytes) {
    char name[KEY_BYTES], bytes_name[KEY_BYTES + 8];
    snprintf(name, sizeof name, "%s_left_out", key);
    bool is_told = !json_object_get(object, name) && json_is_integer(json_object_get(object, "left_out"));
    if (is_told) snprintf(name, sizeof name, "left_out");
    snprintf(bytes_name, sizeof bytes_name, "%s_bytes", name);
    add(object, name, count);
    if (bytes) add(object, bytes_name, bytes);
}

void json_shorten_list(json_t *object, const char *key, size_t top) {
    json_t *list = json_object_get(object, key);
    size_t size = json_array_size(list);
    json_int_t bytes = 0;
    if (size <= top) return;
    for (size_t i = top; i < size; i++)
        bytes += json_integer_value(json_object_get(json_array_get(list, i), "size_bytes"));
    while (json_array_size(list) > top) json_array_remove(list, json_array_size(list) - 1);
    count_left_out(object, key, (json_int_t)(size - top), bytes);
}

static void shorten_members(json_t *object, size_t top) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value) {
        if (is_list_of_objects(value)) json_shorten_list(object, key, top);
    }
}

void json_shorten(json_t *document, size_t top) {
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(document)) shorten_members(document, top);
    json_object_foreach(document, key, value) json_shorten(value, top);
    json_array_foreach(document, i, value) json_shorten(value, top);
}

static json_int_t figure(const json_t *list, size_t i, const char *by) {
    return json_integer_value(json_object_get(json_array_get(list, i), by));
}

void json_sort_list(json_t *object, const char *key, const char *by) {
    json_t *list = json_object_get(object, key);
    for (size_t i = 1; i < json_array_size(list); i++) {
        size_t place = i;
        while (place && figure(list, place - 1, by) < figure(list, i, by)) place--;
        json_t *one = json_incref(json_array_get(list, i));
        json_array_remove(list, i);
        json_array_insert_new(list, place, one);
    }
}

void json_shorten_output(struct output *output, size_t top, const char *sorted, const char *by) {
    json_t *document = json_read((struct bytes){(const uint8_t *)output->data, output->size}, JSON_ALLOW_NUL, NULL);
    if (sorted) json_sort_list(document, sorted, by);
    json_shorten(document, top);
    char *text = document ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    output->size = 0;
    output_put(output, text);
    if (!text) output->failed = true;
    json_text_free(text);
    json_decref(document);
}
