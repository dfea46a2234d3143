#include "analysis/hlo/hlo_text_scan.h"

bool text_lines_next(struct text_lines *lines, struct bytes *line) {
    struct bytes text = lines->file->text;
    if (lines->next >= text.size) return false;
    const uint8_t *start = text.data + lines->next;
    const uint8_t *end = memchr(start, '\n', text.size - lines->next);
    *line = (struct bytes){start, end ? (size_t)(end - start) : text.size - lines->next};
    lines->offset = lines->next;
    lines->next += line->size + 1;
    lines->number++;
    if (line->size && line->data[line->size - 1] == '\r') line->size--;
    return true;
}

bool text_lines_fault(const struct text_lines *lines, const char *expected, struct error *error) {
    struct bytes text = lines->file->text;
    bool is_cut = lines->next > text.size || text.size == 0;
    return error_in(error, is_cut ? ERROR_TRUNCATED : ERROR_MALFORMED, lines->file->path, (int64_t)lines->offset,
                    "line %zu: %s%s", lines->number ? lines->number : 1, is_cut ? "the text ends here; " : "",
                    expected);
}

bool text_file_is_whole(const struct hlo_text_file *file, struct error *error) {
    struct text_lines lines = text_lines_open(file);
    if (!file->path || (file->text.size && file->text.data[file->text.size - 1] == '\n')) return true;
    for (struct bytes line; text_lines_next(&lines, &line);) continue;
    return text_lines_fault(&lines, "expected the rest of the line", error);
}

bool text_take_quoted(struct bytes *text, struct bytes *inside) {
    if (!text->size || text->data[0] != '"') return false;
    for (size_t at = 1; at < text->size; at++) {
        if (text->data[at] == '\\') {
            at++;
        } else if (text->data[at] == '"') {
            *inside = (struct bytes){text->data + 1, at - 1};
            text_skip(text, at + 1);
            return true;
        }
    }
    return false;
}

static bool opens(uint8_t c) {
    return c == '(' || c == '{' || c == '[';
}

static bool closes(uint8_t c) {
    return c == ')' || c == '}' || c == ']';
}

bool text_is_bracket(struct bytes text) {
    return text.size && opens(text.data[0]);
}

bool text_take_brackets(struct bytes *text, struct bytes *inside) {
    struct bytes rest = *text;
    size_t depth = 0;
    if (!text_is_bracket(rest)) return false;
    while (rest.size) {
        struct bytes quoted;
        if (rest.data[0] == '"') {
            if (!text_take_quoted(&rest, &quoted)) return false;
            continue;
        }
        depth += opens(rest.data[0]);
        depth -= closes(rest.data[0]);
        text_skip(&rest, 1);
        if (depth) continue;
        *inside = (struct bytes){text->data + 1, (size_t)(rest.data - text->data) - 2};
        *text = rest;
        return true;
    }
    return false;
}

static bool is_octal(struct bytes text, size_t at) {
    return at < text.size && text.data[at] >= '0' && text.data[at] <= '7';
}

// The byte that the escape after a backslash at `at` stands for; moves past it.
static uint8_t unescape_one(struct bytes text, size_t *at) {
    static const char letters[] = "n\nt\tr\ra\ab\bf\fv\v";
    if (is_octal(text, *at) && is_octal(text, *at + 1) && is_octal(text, *at + 2)) {
        const uint8_t *digits = text.data + *at;
        *at += 3;
        return (uint8_t)((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    }
    uint8_t c = text.data[(*at)++];
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if ((uint8_t)letters[i] == c) return (uint8_t)letters[i + 1];
    }
    return c;
}

struct bytes text_unescape(struct bytes escaped, struct arena *arena) {
    if (escaped.size == 0 || !memchr(escaped.data, '\\', escaped.size)) return escaped;
    uint8_t *plain = arena_push_raw(arena, escaped.size, 1);
    size_t size = 0;
    if (!plain) return (struct bytes){0};
    for (size_t at = 0; at < escaped.size;) {
        uint8_t c = escaped.data[at++];
        plain[size++] = c == '\\' && at < escaped.size ? unescape_one(escaped, &at) : c;
    }
    return (struct bytes){plain, size};
}
