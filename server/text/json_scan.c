#include "server/text/json_scan.h"

#include <string.h>

static bool is_one_of(uint8_t c, const char *set) {
    return c && strchr(set, c);
}

static void drop(struct bytes *text, size_t count) {
    text->data += count;
    text->size -= count;
}

static void skip_blanks(struct bytes *text) {
    while (text->size && is_one_of(*text->data, " \t\r\n")) drop(text, 1);
}

static bool take(struct bytes *text, char wanted) {
    skip_blanks(text);
    if (!text->size || *text->data != (uint8_t)wanted) return false;
    drop(text, 1);
    return true;
}

// How long the text in quotes is that stands at `at`, both quotes with it; 0: it does not end.
static size_t quoted_size(struct bytes text, size_t at) {
    for (size_t i = at + 1; i < text.size; i++) {
        if (text.data[i] == '"') return i + 1 - at;
        if (text.data[i] == '\\') i++;
    }
    return 0;
}

// How long what opens with a bracket is; 0: it does not end.
static size_t bracketed_size(struct bytes text) {
    size_t depth = 0, step;
    for (size_t i = 0; i < text.size; i += step) {
        step = text.data[i] == '"' ? quoted_size(text, i) : 1;
        if (!step) return 0;
        if (is_one_of(text.data[i], "[{")) depth++;
        if (is_one_of(text.data[i], "]}") && --depth == 0) return i + 1;
    }
    return 0;
}

static size_t plain_size(struct bytes text) {
    size_t size = 0;
    while (size < text.size && !is_one_of(text.data[size], " \t\r\n,:]}[{\"")) size++;
    return size;
}

static bool take_value(struct bytes *text, struct bytes *value) {
    skip_blanks(text);
    if (!text->size) return false;
    size_t size = *text->data == '"'             ? quoted_size(*text, 0)
                  : is_one_of(*text->data, "[{") ? bracketed_size(*text)
                                                 : plain_size(*text);
    *value = (struct bytes){text->data, size};
    drop(text, size);
    return size > 0;
}

static bool is_over(struct bytes text) {
    skip_blanks(&text);
    return text.size == 0;
}

struct bytes json_member(struct bytes object, struct bytes key) {
    struct bytes found = {0}, name, value;
    if (!take(&object, '{')) return found;
    while (take_value(&object, &name) && take(&object, ':') && take_value(&object, &value)) {
        if (*name.data == '"' && bytes_equal(json_unquoted(name), key)) found = value;
        if (take(&object, ',')) continue;
        return take(&object, '}') && is_over(object) ? found : (struct bytes){0};
    }
    return (struct bytes){0};
}

bool json_next_entry(struct json_entries *entries, struct bytes *entry) {
    bool is_there = take(&entries->rest, entries->has_begun ? ',' : '[') && take_value(&entries->rest, entry);
    entries->has_begun = true;
    return is_there;
}

struct bytes json_unquoted(struct bytes value) {
    bool is_text = value.size >= 2 && *value.data == '"';
    return is_text ? (struct bytes){value.data + 1, value.size - 2} : value;
}
