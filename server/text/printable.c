#include "server/text/printable.h"

#include "server/text/utf8.h"

enum { REPLACEMENT_BYTES = 3 };  // U+FFFD in UTF-8
static const char REPLACEMENT[] = "\xEF\xBF\xBD", ELLIPSIS[] = "\xE2\x80\xA6";

// C0, DEL, and C1, which is C2 80 to C2 9F.
static bool is_control(const uint8_t *at, size_t size) {
    return size == 1 ? at[0] < 0x20 || at[0] == 0x7F : size == 2 && at[0] == 0xC2 && at[1] < 0xA0;
}

const char *printable_text(struct bytes text, struct arena *arena) {
    char *copy = text.size < SIZE_MAX / REPLACEMENT_BYTES ? arena_push_raw(arena, text.size * REPLACEMENT_BYTES + 1, 1)
                                                          : NULL;
    size_t used = 0;
    if (!copy) return "";
    for (size_t at = 0; at < text.size;) {
        struct utf8_step step = utf8_next(text.data + at, text.size - at);
        bool is_good = step.is_valid && !is_control(text.data + at, step.size);
        size_t size = is_good ? step.size : REPLACEMENT_BYTES;
        memcpy(copy + used, is_good ? (const char *)text.data + at : REPLACEMENT, size);
        used += size;
        at += step.size;
    }
    copy[used] = '\0';
    return copy;
}

static bool starts_character(char c) {
    return ((uint8_t)c & 0xC0) != 0x80;
}

size_t printable_width(const char *text) {
    size_t width = 0;
    for (; *text; text++) width += starts_character(*text);
    return width;
}

// The byte at which character number `count` starts.
static size_t bytes_before(const char *text, size_t count) {
    size_t at = 0;
    for (; text[at]; at++) {
        if (starts_character(text[at]) && count-- == 0) break;
    }
    return at;
}

const char *printable_shorten(const char *text, size_t width, struct arena *arena) {
    size_t whole = printable_width(text);
    if (whole <= width || width == 0) return text;
    size_t right = (width - 1) / 2, left = width - 1 - right;
    const char *end = text + bytes_before(text, whole - right);
    const char *made = arena_printf(arena, "%.*s%s%s", (int)bytes_before(text, left), text, ELLIPSIS, end);
    return made ? made : "";
}
