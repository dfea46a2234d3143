#include "analysis/oom/oom_shapes.h"

enum { WORDS_MAX = 64, INDENT_MIN = 4 };

void oom_parse_module(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    oom_take(cursor, ".");
    struct oom_cursor at = *cursor;
    if (!oom_take(&at, "HLO module:")) return;
    *cursor = at;
    const char *name = oom_take_name(cursor, "_-.$:<>()", ".,;", arena);
    if (name) message->module = name;
}

// "Total hbm usage >= N:" and "Program hbm requirement N:".
static bool parse_total(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    static const struct {
        const char *before, *after, *name;
    } heads[] = {{"Total", "usage >=", "usage"}, {"Program", "requirement", "requirement"}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct oom_cursor at = *cursor;
        int64_t bytes;
        if (!oom_take(&at, heads[i].before)) continue;
        const char *space = oom_take_space(&at, arena);
        if (!space || !oom_take(&at, heads[i].after)) continue;
        if (!oom_take_size_before(&at, ":", &bytes) && !oom_take_size(&at, &bytes)) continue;
        oom_take(&at, ":");
        oom_message_add(message, arena_printf(arena, "%s %s %s", heads[i].before, space, heads[i].name), bytes);
        *cursor = at;
        return true;
    }
    return false;
}

// "Output size N; shares N with arguments."
static bool parse_output(struct oom_cursor *cursor, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    int64_t bytes;
    if (!oom_take(&at, "Output size")) return false;
    if (!oom_take_size_before(&at, ";", &bytes) && !oom_take_size(&at, &bytes)) return false;
    oom_message_add(message, "Output size", bytes);
    *cursor = at;
    if (!oom_take(&at, "shares") || !oom_take_size_before(&at, "with arguments", &bytes)) return true;
    oom_message_add(message, "shares with arguments", bytes);
    oom_take(&at, ".");
    *cursor = at;
    return true;
}

// "(97.1% utilization: Unpadded (N) Padded (N), 0.3% fragmentation (N))": what of it is whole.
static void parse_utilization(struct oom_cursor *cursor, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    double percent;
    int64_t bytes;
    if (!oom_take(&at, "(") || !oom_take_percent(&at, &percent) || !oom_take(&at, "utilization: Unpadded (")) return;
    if (!oom_take_size_before(&at, ")", &bytes)) return;
    oom_message_add(message, "HLO temp unpadded", bytes);
    if (!oom_take(&at, "Padded (") || !oom_take_size_before(&at, ")", &bytes)) return;
    oom_message_add(message, "HLO temp padded", bytes);
    if (!oom_take(&at, ",") || !oom_take_percent(&at, &percent) || !oom_take(&at, "fragmentation (")) return;
    if (!oom_take_size_before(&at, ")", &bytes)) return;
    oom_message_add(message, "HLO temp fragmentation", bytes);
    oom_take(&at, ")");
    *cursor = at;
}

static bool parse_known_row(struct oom_cursor *cursor, struct oom_message *message) {
    static const char *const names[] = {"reserved", "program",   "arguments",   "global",    "scoped",
                                        "HLO temp", "constants", "HLO buffers", "SparseCore"};
    struct oom_cursor at = *cursor;
    const char *name = oom_take_any(&at, names, sizeof names / sizeof names[0], "");
    int64_t bytes;
    if (!name || !oom_take_size(&at, &bytes)) return false;
    oom_message_add(message, name, bytes);
    *cursor = at;
    parse_utilization(cursor, message);
    return true;
}

static bool is_word_byte(uint8_t c) {
    return oom_is_letter(c) || c == '_' || c == '-' || c == ' ';
}

// A row that we do not know: indented, some words, a size, and the line's end. Nothing else of a log looks so.
static bool parse_other_row(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    const uint8_t *at = cursor->at;
    while (at < cursor->end && *at == '\n') at++;
    const uint8_t *start = at;
    while (start < cursor->end && *start == ' ') start++;
    if (start - at < INDENT_MIN) return false;
    for (at = start; at < cursor->end && at - start < WORDS_MAX && is_word_byte(*at);) at++;
    const uint8_t *end = at;
    while (end > start && end[-1] == ' ') end--;
    struct oom_cursor after = {at, cursor->end};
    int64_t bytes;
    if (end == start || !oom_take_size(&after, &bytes) || after.at == after.end || *after.at != '\n') return false;
    oom_message_add(message, arena_string(arena, (struct bytes){start, (size_t)(end - start)}), bytes);
    *cursor = after;
    return true;
}

static bool parse_largest(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_cursor at = *cursor;
    if (!oom_take(&at, "Largest program allocations in") || !oom_take_space(&at, arena)) return false;
    oom_take(&at, ":");
    *cursor = at;
    oom_parse_entries(cursor, arena, message);
    return true;
}

void oom_parse_usage_table(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    const uint8_t *before;
    do {
        before = cursor->at;
        oom_parse_module(cursor, arena, message);
        oom_take(cursor, "Memory usage report:");
        if (parse_largest(cursor, arena, message)) return;
        bool is_row = parse_total(cursor, arena, message) || parse_output(cursor, message) ||
                      parse_known_row(cursor, message) || parse_other_row(cursor, arena, message);
        if (!is_row && cursor->at == before) return;
    } while (cursor->at < cursor->end);
}
