#include "server/storage/url_text.h"

static bool is_plain(uint8_t c) {
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_word || c == '-' || c == '.' || c == '_' || c == '~';
}

// All but the plain bytes and those of `kept`.
static const char *escape(struct bytes text, const char *kept, struct arena *arena) {
    static const char digits[] = "0123456789ABCDEF";
    char *escaped = arena_push_raw(arena, text.size + 1, 3);
    size_t size = 0;
    for (size_t i = 0; escaped && i < text.size; i++) {
        uint8_t c = text.data[i];
        if (is_plain(c) || (c && strchr(kept, c))) {
            escaped[size++] = (char)c;
            continue;
        }
        escaped[size++] = '%';
        escaped[size++] = digits[c >> 4];
        escaped[size++] = digits[c & 15];
    }
    if (escaped) escaped[size] = '\0';
    return escaped;
}

const char *url_escape(struct bytes text, enum url_part part, struct arena *arena) {
    return escape(text, part == URL_PATH ? "/" : "", arena);
}

const char *url_escape_rest(struct bytes text, struct arena *arena) {
    return escape(text, "%/!$&'()*+,;=:@?", arena);
}

static int hex_value(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

struct bytes url_unescape_form(struct bytes text, struct arena *arena) {
    uint8_t *plain = arena_push_raw(arena, text.size + 1, 1);
    size_t size = 0;
    for (size_t i = 0; plain && i < text.size; i++) {
        int high = text.data[i] == '%' && i + 2 < text.size ? hex_value(text.data[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text.data[i + 2]) : -1;
        uint8_t as_it_is = text.data[i] == '+' ? ' ' : text.data[i];
        plain[size++] = low >= 0 ? (uint8_t)(high * 16 + low) : as_it_is;
        if (low >= 0) i += 2;
    }
    return (struct bytes){plain, size};
}
