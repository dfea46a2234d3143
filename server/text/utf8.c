#include "server/text/utf8.h"

// The allowed range of the second byte depends on the first (Unicode, table 3-7).
struct lead {
    uint8_t size, second_min, second_max;
};

static struct lead lead_of(uint8_t first) {
    if (first < 0x80) return (struct lead){1, 0, 0};
    if (first < 0xC2) return (struct lead){0, 0, 0};
    if (first < 0xE0) return (struct lead){2, 0x80, 0xBF};
    if (first == 0xE0) return (struct lead){3, 0xA0, 0xBF};
    if (first == 0xED) return (struct lead){3, 0x80, 0x9F};
    if (first < 0xF0) return (struct lead){3, 0x80, 0xBF};
    if (first == 0xF0) return (struct lead){4, 0x90, 0xBF};
    if (first < 0xF4) return (struct lead){4, 0x80, 0xBF};
    if (first == 0xF4) return (struct lead){4, 0x80, 0x8F};
    return (struct lead){0, 0, 0};
}

struct utf8_step utf8_next(const uint8_t *text, size_t size) {
    struct lead lead = lead_of(text[0]);
    if (lead.size == 0) return (struct utf8_step){1, false};
    uint8_t min = lead.second_min, max = lead.second_max;
    for (uint8_t i = 1; i < lead.size; i++) {
        if (i >= size || text[i] < min || text[i] > max) return (struct utf8_step){i, false};
        min = 0x80, max = 0xBF;
    }
    return (struct utf8_step){lead.size, true};
}

static bool take(struct bytes *rest, struct bytes part) {
    if (!bytes_starts_with(*rest, part)) return false;
    *rest = (struct bytes){rest->data + part.size, rest->size - part.size};
    return true;
}

bool utf8_same_text(struct bytes raw, const char *asked) {
    struct bytes rest = bytes_of(asked);
    if (bytes_equal(raw, rest)) return true;
    for (size_t at = 0; at < raw.size;) {
        struct utf8_step step = utf8_next(raw.data + at, raw.size - at);
        struct bytes seen = step.is_valid ? (struct bytes){raw.data + at, step.size} : BYTES("\xEF\xBF\xBD");
        if (!take(&rest, seen)) return false;
        at += step.size;
    }
    return rest.size == 0;
}
