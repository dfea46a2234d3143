#include "analysis/oom/oom_cursor.h"

#include <string.h>

#include "analysis/base/text_writer.h"

enum { NAME_BYTES_MAX = 1024 };

const uint8_t *oom_past_blanks(const uint8_t *at, const uint8_t *end) {
    const uint8_t *limit = end - at > OOM_BLANKS_MAX ? at + OOM_BLANKS_MAX : end;
    while (at < limit && oom_is_blank(*at)) at++;
    return at < limit || at == end ? at : end;
}

bool oom_take(struct oom_cursor *cursor, const char *words) {
    const uint8_t *at = cursor->at;
    for (; *words; words++) {
        if (*words == ' ') continue;
        if (at < cursor->end && oom_is_blank(*at)) at = oom_past_blanks(at, cursor->end);
        if (at == cursor->end || oom_lower(*at) != oom_lower((uint8_t)*words)) return false;
        at++;
    }
    cursor->at = at;
    return true;
}

bool oom_sees(struct oom_cursor cursor, const char *words) {
    return oom_take(&cursor, words);
}

struct oom_cursor oom_near(struct oom_cursor cursor, size_t window) {
    if ((size_t)(cursor.end - cursor.at) > window) cursor.end = cursor.at + window;
    return cursor;
}

bool oom_find(struct oom_cursor *cursor, const char *words, size_t window) {
    const uint8_t *last = oom_near(*cursor, window).end;
    uint8_t first = oom_lower((uint8_t)words[0]);
    for (const uint8_t *at = cursor->at; at < last; at++) {
        if (oom_lower(*at) != first) continue;
        struct oom_cursor here = {at, cursor->end};
        if (!oom_take(&here, words)) continue;
        *cursor = here;
        return true;
    }
    return false;
}

const char *oom_join_lines(const uint8_t *from, const uint8_t *to, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    while (from < to) {
        const uint8_t *end = memchr(from, '\n', (size_t)(to - from));
        text_put_bytes(&text, (struct bytes){from, (size_t)((end ? end : to) - from)});
        from = end ? oom_past_blanks(end, to) : to;
    }
    return text_writer_finish(&text);
}

static bool is_name_byte(uint8_t c, const char *also) {
    return oom_is_letter(c) || oom_is_digit(c) || (c && strchr(also, c));
}

static bool ends_a_sentence(const uint8_t *stop, const uint8_t *end) {
    return *stop != '.' || stop + 1 == end || oom_is_blank(stop[1]) || strchr("\"'`)]<", stop[1]);
}

const char *oom_take_name(struct oom_cursor *cursor, const char *also, const char *stops, struct arena *arena) {
    const uint8_t *start = oom_past_blanks(cursor->at, cursor->end);
    size_t size = 0;
    for (const uint8_t *at = start; at < cursor->end; at++) {
        if (*at && strchr(stops, *at) && ends_a_sentence(at, cursor->end)) {
            cursor->at = at + 1;
            return size ? oom_join_lines(start, at, arena) : NULL;
        }
        if (*at == '\n') {
            at = oom_past_blanks(at, cursor->end) - 1;
            continue;
        }
        if (!is_name_byte(*at, also) || size++ == NAME_BYTES_MAX) return NULL;
    }
    return NULL;
}

const char *oom_take_any(struct oom_cursor *cursor, const char *const *words, size_t count, const char *behind) {
    for (size_t i = 0; i < count; i++) {
        struct oom_cursor at = *cursor;
        if (!oom_take(&at, words[i]) || !oom_take(&at, behind)) continue;
        *cursor = at;
        return words[i];
    }
    return NULL;
}

const char *oom_take_known_space(struct oom_cursor *cursor) {
    static const char *const known[] = {"hbm", "vmem", "smem", "sflag", "cmem", "host", "sparsecore"};
    return oom_take_any(cursor, known, sizeof known / sizeof known[0], "");
}

const char *oom_take_space(struct oom_cursor *cursor, struct arena *arena) {
    const char *known = oom_take_known_space(cursor);
    if (known) return known;
    const uint8_t *start = oom_past_blanks(cursor->at, cursor->end), *at = start;
    while (at < cursor->end && is_name_byte(*at, "_-")) at++;
    if (memchr(cursor->at, '\n', (size_t)(start - cursor->at))) return NULL;
    if (at == start || at == cursor->end || *at == '\n' || at - start > NAME_BYTES_MAX) return NULL;
    char *word = arena_string(arena, (struct bytes){start, (size_t)(at - start)});
    for (char *c = word; c && *c; c++) *c = (char)oom_lower((uint8_t)*c);
    cursor->at = at;
    return word;
}
