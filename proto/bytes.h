// A view on bytes that somebody else owns: a field of a message, a name, a whole blob.
//
// Passed by value. Never NUL-terminated, never freed through the view, may hold any bytes (text from a profile is not
// trusted to be UTF-8). A zeroed struct is the empty view.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size;
};

// A view on a string literal.
#define BYTES(literal) ((struct bytes){(const uint8_t *)(literal), sizeof(literal) - 1})

static inline struct bytes bytes_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static inline bool bytes_equal(struct bytes a, struct bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool bytes_starts_with(struct bytes text, struct bytes prefix) {
    return text.size >= prefix.size && bytes_equal((struct bytes){text.data, prefix.size}, prefix);
}

static inline bool bytes_ends_with(struct bytes text, struct bytes suffix) {
    return text.size >= suffix.size &&
           bytes_equal((struct bytes){text.data + (text.size - suffix.size), suffix.size}, suffix);
}

// Where `part`, which is not empty, first stands in the text; the text's size when it does not.
static inline size_t bytes_find(struct bytes text, struct bytes part) {
    for (size_t at = 0; at + part.size <= text.size; at++) {
        const uint8_t *first = memchr(text.data + at, part.data[0], text.size - part.size + 1 - at);
        if (!first) break;
        at = (size_t)(first - text.data);
        if (memcmp(first, part.data, part.size) == 0) return at;
    }
    return text.size;
}

static inline bool bytes_contains(struct bytes text, struct bytes part) {
    return bytes_find(text, part) < text.size;
}

// Order of memcmp, the shorter first: XProf's (and C++ std::string's) order of names.
static inline int bytes_compare(struct bytes a, struct bytes b) {
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}
