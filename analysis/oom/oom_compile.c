#include "analysis/oom/oom_shapes.h"

#include <string.h>

enum { SENTENCE_BYTES = 600, WORDS_BYTES_MAX = 80 };

bool oom_take_last_size(struct oom_cursor *cursor, int64_t *bytes) {
    enum { HUMAN_MAX = 9999 };
    struct oom_cursor at = *cursor;
    int64_t found;
    if (oom_take_size(cursor, bytes)) return true;
    if (!oom_take_digits(&at, true, &found) || found <= HUMAN_MAX || !strchr(".\n;,)", *at.at)) return false;
    if (*at.at == '.' && at.at + 1 < at.end && oom_is_digit(at.at[1])) return false;
    *bytes = found;
    *cursor = at;
    return true;
}

// --- "the total memory required for HLO temporaries (N) exceeds available HBM (N)" ---

// The words up to a parenthesis, each blank between them one space.
static const char *take_words(struct oom_cursor *cursor, struct arena *arena) {
    char words[WORDS_BYTES_MAX];
    size_t size = 0;
    if (oom_take(cursor, "HLO temporaries (")) return "HLO temporaries";
    for (const uint8_t *at = oom_past_blanks(cursor->at, cursor->end); at < cursor->end; at++) {
        if (*at == '(') {
            cursor->at = at + 1;
            while (size && words[size - 1] == ' ') size--;
            return size ? arena_string(arena, (struct bytes){(const uint8_t *)words, size}) : NULL;
        }
        if (size == sizeof words) return NULL;
        if (!oom_is_blank(*at))
            words[size++] = (char)*at;
        else if (size && words[size - 1] != ' ')
            words[size++] = ' ';
    }
    return NULL;
}

bool oom_parse_required_tail(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    int64_t bytes;
    const char *words = take_words(&at, arena);
    if (!words || !oom_take_size_before(&at, ")", &bytes)) return false;
    message->needed_bytes = bytes;
    oom_message_add(message, words, bytes);
    *cursor = at;
    if (!oom_take(&at, "exceeds available")) return true;
    const char *space = oom_take_space(&at, arena);
    if (space && oom_take(&at, "(")) {
        if (!message->memory_space) message->memory_space = space;
        *cursor = at;
        if (oom_take_size_before(&at, ")", &bytes)) message->capacity_bytes = bytes, *cursor = at;
    }
    oom_parse_module(cursor, arena, message);
    return true;
}

bool oom_parse_required(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    message->memory_space = oom_take_known_space(cursor);
    if (!message->memory_space) return false;
    struct oom_cursor tail = *cursor;
    bool is_whole_word = cursor->at == cursor->end || oom_sees(*cursor, ",") || oom_sees(*cursor, ".");
    if (!is_whole_word) return false;
    if (!oom_find(&tail, "total memory required for", SENTENCE_BYTES)) return true;
    *cursor = tail;
    (void)oom_parse_required_tail(cursor, arena, message);
    return true;
}

bool oom_parse_oom_name(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    (void)arena;
    message->memory_space = "hbm";
    return oom_take(cursor, ":") || cursor->at == cursor->end;
}

// --- "Used N of N hbm. Exceeded hbm capacity by N." ---

static bool take_again(struct oom_cursor *cursor, const char *space, struct arena *arena) {
    return oom_take(cursor, space) || oom_take_space(cursor, arena);
}

static bool parse_figures(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    if (!oom_take_size_before(&at, "of", &message->needed_bytes)) return false;
    *cursor = at;
    const char *expected = message->memory_space ? message->memory_space : "hbm";
    if (!oom_take_size_before(&at, expected, &message->capacity_bytes)) return false;
    message->memory_space = expected;
    *cursor = at;
    oom_take(&at, ".");
    if (!oom_take(&at, "Exceeded") || !take_again(&at, expected, arena) || !oom_take(&at, "capacity by")) return true;
    if (oom_take_last_size(&at, &message->exceeded_bytes)) *cursor = at;
    return true;
}

// A kernel's own stack: "Scoped allocation with size N and limit N exceeded scoped vmem limit by N."
static bool parse_scoped(struct oom_cursor *cursor, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    if (!oom_find(&at, "Scoped allocation with size", SENTENCE_BYTES)) return false;
    oom_take_size_before(&at, "and limit", &message->needed_bytes);
    if (oom_take_size_before(&at, "exceeded scoped vmem limit by", &message->capacity_bytes))
        oom_take_last_size(&at, &message->exceeded_bytes);
    *cursor = at;
    return true;
}

bool oom_parse_used_tail(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    if (!parse_figures(cursor, arena, message)) return false;
    oom_parse_usage_table(cursor, arena, message);
    return true;
}

// A memory space of several words: "sparse core spmem", up to ". Used".
static const char *take_space_words(struct oom_cursor *cursor, struct arena *arena) {
    char words[WORDS_BYTES_MAX];
    size_t size = 0;
    const uint8_t *end = oom_near(*cursor, WORDS_BYTES_MAX).end, *at = oom_past_blanks(cursor->at, end);
    while (at < end && (oom_is_letter(*at) || oom_is_digit(*at) || oom_is_blank(*at) || *at == '_' || *at == '-')) {
        if (*at == '\n') {
            at = oom_past_blanks(at, end);
            continue;
        }
        words[size++] = (char)oom_lower(*at++);
    }
    if (at == end || !size || !oom_sees((struct oom_cursor){at, cursor->end}, ". Used")) return NULL;
    cursor->at = at;
    return arena_string(arena, (struct bytes){(const uint8_t *)words, size});
}

bool oom_parse_used(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor words = *cursor;
    const char *space = oom_take_space(cursor, arena);
    bool is_whole = !space || strcmp(space, "hbm") == 0 || oom_sees(*cursor, ".") || oom_sees(*cursor, "while");
    const char *whole = is_whole ? NULL : take_space_words(&words, arena);
    if (whole) {
        space = whole;
        *cursor = words;
    }
    if (oom_sees(*cursor, ".") || oom_sees(*cursor, "while")) message->memory_space = space;
    struct oom_cursor used = *cursor;
    if (oom_find(&used, "Used", SENTENCE_BYTES)) {
        bool has_figures = parse_figures(&used, arena, message);
        *cursor = used;
        if (!has_figures) return true;
    } else if (!parse_scoped(cursor, message)) {
        return true;
    }
    oom_parse_usage_table(cursor, arena, message);
    return true;
}
