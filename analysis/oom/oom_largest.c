#include "analysis/oom/oom_shapes.h"

#include <string.h>

#include "analysis/base/growing_array.h"

enum { VALUE_BYTES_MAX = 64 << 10, KEY_BYTES_MAX = 48 };

// --- The value of a field ---
//
//     XLA label: fusion.1 = fusion(%p,|        %q), kind=kOutput|        Allocation type: HLO temp|
//                ^--------------------------------------------^ up to the next key

enum field {
    FIELD_SIZE,
    FIELD_OPERATOR,
    FIELD_SHAPE,
    FIELD_UNPADDED,
    FIELD_PADDING,
    FIELD_LABEL,
    FIELD_TYPE,
    FIELD_SUBSHAPE,
    FIELD_COUNT,
};

static const char *const field_keys[FIELD_COUNT] = {
    [FIELD_SIZE] = "Size:",
    [FIELD_OPERATOR] = "Operator:",
    [FIELD_SHAPE] = "Shape:",
    [FIELD_UNPADDED] = "Unpadded size:",
    [FIELD_LABEL] = "XLA label:",
    [FIELD_PADDING] = "Extra memory due to padding:",
    [FIELD_TYPE] = "Allocation type:",
    [FIELD_SUBSHAPE] = "Entry Parameter Subshape:",
};

static enum field take_key(struct oom_cursor *cursor) {
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (oom_take(cursor, field_keys[i])) return (enum field)i;
    }
    return FIELD_COUNT;
}

// "12. Size:" and "Buffer 12:".
static bool take_head(struct oom_cursor *cursor) {
    struct oom_cursor at = *cursor;
    int64_t number;
    bool is_numbered = oom_take_digits(&at, true, &number) && oom_take(&at, ".") && oom_sees(at, "Size:");
    if (!is_numbered) {
        at = *cursor;
        if (!oom_take(&at, "Buffer") || !oom_take_digits(&at, true, &number) || !oom_take(&at, ":")) return false;
    }
    *cursor = at;
    return true;
}

// Whether `at`, which is behind an entry's head, is the first of an indented line.
static bool is_indented(const uint8_t *at) {
    if (at[-1] != ' ' || at[-2] != ' ') return false;
    while (at[-1] == ' ') at--;
    return at[-1] == '\n';
}

// A key that this program does not know, "Fragmentation: ": words from a capital on, the first of an indented line.
static bool take_other_key(struct oom_cursor *cursor) {
    const uint8_t *at = oom_past_blanks(cursor->at, cursor->end), *limit = at;
    limit += cursor->end - at > KEY_BYTES_MAX ? KEY_BYTES_MAX : cursor->end - at;
    if (at == limit || *at < 'A' || *at > 'Z' || !is_indented(at)) return false;
    while (at < limit && (oom_is_letter(*at) || *at == ' ' || *at == '_' || *at == '-')) at++;
    if (limit - at < 2 || at[0] != ':' || at[1] != ' ') return false;
    cursor->at = at + 1;
    return true;
}

static bool sees_boundary(struct oom_cursor cursor) {
    return oom_sees(cursor, "=====") || take_key(&cursor) != FIELD_COUNT || take_head(&cursor) ||
           take_other_key(&cursor);
}

struct value {
    const uint8_t *at, *end;
    bool is_closed;  // another field or the end of the block follows; else it may be cut, and is not to be told
};

static struct value take_value(struct oom_cursor *cursor) {
    struct oom_cursor near = oom_near(*cursor, VALUE_BYTES_MAX);
    const uint8_t *line_end = NULL, *start = oom_past_blanks(near.at, near.end);
    for (const uint8_t *at = start; at < near.end; at++) {
        if (!oom_is_blank(*at)) continue;
        if (*at == '\n' && !line_end) line_end = at;
        const uint8_t *next = oom_past_blanks(at, near.end);
        struct oom_cursor after = {next, cursor->end};
        if (sees_boundary(after)) {
            cursor->at = next;
            return (struct value){start, at, true};
        }
        at = next - 1;
    }
    cursor->at = line_end ? line_end : near.end;
    return (struct value){start, cursor->at, false};
}

// --- Text of a value ---

static bool is_balanced(struct value value) {
    int64_t depth = 0;
    for (const uint8_t *at = value.at; at < value.end; at++) {
        depth += (*at && strchr("([{", *at)) ? 1 : 0;
        depth -= (*at && strchr(")]}", *at)) ? 1 : 0;
    }
    return depth == 0 && value.end > value.at;
}

// Whether a space stood where the line was broken: after a word's end, not inside brackets of numbers.
static bool had_space(const uint8_t *start, const uint8_t *before, const uint8_t *next, bool is_in_list) {
    if (before > start && before[-1] == ' ') return false;
    if (before[-1] == ',') return !is_in_list;
    return (next[0] == '=' && next[1] == ' ') || (before[-1] == '=' && before - start > 1 && before[-2] == ' ');
}

// The value with its broken lines joined.
static const char *value_text(struct value value, struct arena *arena) {
    if (!value.is_closed || !is_balanced(value)) return NULL;
    char *text = arena_push(arena, (size_t)(value.end - value.at) * 2 + 1, 1);
    size_t size = 0;
    int depth = 0;
    if (!text) return NULL;
    for (const uint8_t *at = value.at; at < value.end; at++) {
        if (*at == '[' || *at == '{') depth++;
        if (*at == ']' || *at == '}') depth--;
        if (*at != '\n') {
            text[size++] = (char)*at;
            continue;
        }
        const uint8_t *next = oom_past_blanks(at, value.end);
        if (next < value.end && at > value.at && had_space(value.at, at, next, depth > 0)) text[size++] = ' ';
        at = next - 1;
    }
    while (size && text[size - 1] == ' ') size--;
    text[size] = 0;
    return text;
}

static const char *type_text(struct value value, struct arena *arena) {
    struct oom_cursor words = {value.at, value.end};
    bool is_temporary = value.is_closed && oom_take(&words, "HLO temp") && words.at == value.end;
    return is_temporary ? "HLO temp" : value_text(value, arena);
}

// --- Operator: op_name="..." source_file="..." source_line=N ---

// Whether what follows a quote is the value's end or the next "key=". Quotes inside a name are not told by a backslash:
// the log is decoded, and that undoes it.
static bool is_closing(struct oom_cursor behind, const uint8_t *start) {
    if (behind.at < behind.end && !oom_is_blank(*behind.at)) return false;
    const uint8_t *at = oom_past_blanks(behind.at, behind.end);
    if (at == behind.end) return is_balanced((struct value){start, behind.at - 1, true});
    const uint8_t *key = at, *limit = oom_near((struct oom_cursor){at, behind.end}, KEY_BYTES_MAX).end;
    while (at < limit && (oom_is_letter(*at) || *at == '_' || oom_is_blank(*at))) at++;
    return at > key && (at == behind.end || (at < limit && *at == '='));
}

static const uint8_t *find_closing(struct oom_cursor cursor) {
    for (const uint8_t *at = cursor.at; at < cursor.end; at++) {
        if (*at == '"' && is_closing((struct oom_cursor){at + 1, cursor.end}, cursor.at)) return at;
    }
    return NULL;
}

// The text between quotes, its broken lines joined without a blank.
static const char *take_quoted(struct oom_cursor *cursor, const char *key, struct arena *arena) {
    struct oom_cursor at = *cursor;
    if (!oom_find(&at, key, VALUE_BYTES_MAX) || !oom_take(&at, "\"")) return NULL;
    const uint8_t *quote = find_closing(at);
    if (!quote) return NULL;
    cursor->at = quote + 1;
    return oom_join_lines(at.at, quote, arena);
}

static void parse_operator(struct value value, struct arena *arena, struct oom_entry *entry) {
    struct oom_cursor words = {value.at, value.end};
    int64_t line;
    const char *op_name = take_quoted(&words, "op_name=", arena);
    if (op_name && op_name[0]) entry->op_name = op_name;
    const char *file = take_quoted(&words, "source_file=", arena);
    if (!value.is_closed) return;
    words.end = value.end + 1;  // the blank that ends the number
    if (!file || !file[0] || !oom_take(&words, "source_line=") || !oom_take_digits(&words, true, &line)) return;
    entry->source = arena_printf(arena, "%s:%lld", file, (long long)line);
}

// --- Blocks ---

// A size that a key or a block's end follows, when it has no unit.
static bool take_field_size(struct oom_cursor *cursor, int64_t *bytes) {
    if (oom_take_size(cursor, bytes)) return true;
    struct oom_cursor at = *cursor;
    if (!oom_take_digits(&at, true, bytes) || !sees_boundary(at)) return false;
    *cursor = at;
    return true;
}

static void parse_size(struct oom_cursor *cursor, int64_t *bytes) {
    if (!take_field_size(cursor, bytes)) *bytes = OOM_ABSENT;
}

// "1.5M (1.2x expansion)"
static void parse_padding(struct oom_cursor *cursor, struct oom_entry *entry) {
    parse_size(cursor, &entry->padding_bytes);
    struct oom_cursor at = *cursor;
    if (oom_take(&at, "(") && oom_find(&at, "expansion)", OOM_BLANKS_MAX)) *cursor = at;
}

static void parse_field(enum field field, struct oom_cursor *cursor, struct arena *arena, struct oom_entry *entry) {
    switch (field) {
        case FIELD_SIZE:
            parse_size(cursor, &entry->size_bytes);
            return;
        case FIELD_UNPADDED:
            parse_size(cursor, &entry->unpadded_bytes);
            return;
        case FIELD_PADDING:
            parse_padding(cursor, entry);
            return;
        case FIELD_OPERATOR:
            parse_operator(take_value(cursor), arena, entry);
            return;
        case FIELD_SUBSHAPE:
            entry->is_entry_parameter = true;
            entry->shape = value_text(take_value(cursor), arena);
            return;
        case FIELD_SHAPE:
            entry->shape = value_text(take_value(cursor), arena);
            return;
        case FIELD_LABEL:
            entry->label = value_text(take_value(cursor), arena);
            return;
        case FIELD_TYPE:
            entry->allocation_type = type_text(take_value(cursor), arena);
            return;
        case FIELD_COUNT:
            return;
    }
}

static void skip_rule(struct oom_cursor *cursor) {
    while (oom_take(cursor, "=")) continue;
}

static bool parse_entry(struct oom_cursor *cursor, struct arena *arena, struct oom_entry *entry) {
    *entry = (struct oom_entry){.size_bytes = OOM_ABSENT, .unpadded_bytes = OOM_ABSENT, .padding_bytes = OOM_ABSENT};
    if (!take_head(cursor)) return false;
    for (;;) {
        struct oom_cursor next = *cursor;
        if (take_head(&next)) break;
        enum field field = take_key(&next);
        bool is_other = field == FIELD_COUNT && take_other_key(&next);
        if (field == FIELD_COUNT && !is_other) break;
        *cursor = next;
        if (is_other)
            take_value(cursor);
        else
            parse_field(field, cursor, arena, entry);
    }
    skip_rule(cursor);
    return entry->size_bytes != OOM_ABSENT;
}

void oom_parse_entries(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message) {
    struct oom_entry entry;
    while (parse_entry(cursor, arena, &entry)) {
        bool is_kept = message->entry_count < OOM_ENTRIES_MAX &&
                       growing_array_add(arena, message->entries, message->entry_count, entry);
        message->entries_left_out += !is_kept;
    }
}
