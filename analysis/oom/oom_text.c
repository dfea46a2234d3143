#include "analysis/oom/oom_text.h"

#include <string.h>

#include "analysis/oom/line_prefix.h"

enum { SOURCES_MAX = 512, LABELS_MIN = 3, COLOUR_BYTES_MAX = 64 };

#define SAME_SOURCE UINT32_MAX

// --- Decoding ---

struct decoder {
    const uint8_t *at, *end;
    uint8_t *to;
};

// The size of an escape character however it is written: ESC, \u001b, \x1b, \033, \e; 0 for none.
static size_t escape_size(const struct decoder *d) {
    static const char *const words[] = {"\x1b", "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(d->end - d->at) >= size && memcmp(d->at, words[i], size) == 0) return size;
    }
    return 0;
}

// Steps over a terminal's control sequence: ESC [ parameters letter, or ESC ] text BEL, or ESC letter.
static bool skip_colour(struct decoder *d) {
    size_t size = escape_size(d);
    if (!size) return false;
    d->at += size;
    const uint8_t *limit = d->end - d->at > COLOUR_BYTES_MAX ? d->at + COLOUR_BYTES_MAX : d->end;
    if (d->at == limit) return true;
    uint8_t kind = *d->at;
    if (kind != '[' && kind != ']') return true;
    const uint8_t *at = d->at + 1;
    while (at < limit && *at != '\n' && (kind == '[' ? *at < '@' || *at > '~' : *at != 7)) at++;
    if (at < limit && *at != '\n') at++;
    d->at = at;
    return true;
}

// A backslash and what it stands for, as JSON and repr write it; doubled where it was written twice.
static bool skip_backslashes(struct decoder *d) {
    const uint8_t *at = d->at;
    while (at < d->end && *at == '\\') at++;
    if (at == d->at || at == d->end || !strchr("nrt\"'", *at) || *at == 0) return false;
    *d->to++ = *at == 'n' ? '\n' : *at == '"' || *at == '\'' ? *at : ' ';
    d->at = at + 1;
    return true;
}

// Box drawing (U+2500 to U+257F) that frames a traceback.
static bool skip_frame(struct decoder *d) {
    if (d->end - d->at < 3 || d->at[0] != 0xE2 || (d->at[1] != 0x94 && d->at[1] != 0x95)) return false;
    *d->to++ = ' ';
    d->at += 3;
    return true;
}

static bool is_plain(uint8_t c) {
    return c >= ' ' && c != '\\' && c != 0xE2 && c != 0x7F;
}

// Decodes into `to`, which has room for all of `log`.
static struct bytes decode(struct bytes log, uint8_t *to) {
    struct decoder d = {log.data, log.data + log.size, to};
    while (d.at < d.end) {
        uint8_t c = *d.at;
        if (is_plain(c) || c == '\n') {
            *d.to++ = c;
            d.at++;
        } else if (!skip_colour(&d) && !skip_backslashes(&d) && !skip_frame(&d)) {
            if (c == '\t')
                *d.to++ = ' ';
            else if (c >= ' ' && c != 0x7F)
                *d.to++ = c;
            d.at++;
        }
    }
    return (struct bytes){to, (size_t)(d.to - to)};
}

// --- Lines ---

struct raw_line {
    uint32_t at;  // without the prefix
    uint32_t number;
    uint32_t source;  // index into sources; first SAME_SOURCE: the line has no label
};

struct line_list {
    struct raw_line *lines;
    uint32_t count, most;
    uint64_t sources[SOURCES_MAX];       // [0] is that of lines before any label
    uint32_t label_counts[SOURCES_MAX];  // lines with the label
    uint32_t source_sizes[SOURCES_MAX];  // lines, with those that follow
    uint32_t source_count;
};

static uint32_t source_of(struct line_list *list, uint64_t source, uint32_t before) {
    if (source == 0) return SAME_SOURCE;
    if (before != SAME_SOURCE && list->sources[before] == source) return before;
    for (uint32_t i = 0; i < list->source_count; i++) {
        if (list->sources[i] == source) return i;
    }
    if (list->source_count == SOURCES_MAX) return SAME_SOURCE;
    list->sources[list->source_count] = source;
    return list->source_count++;
}

// A label that hardly ever stands there is none: a broken line may begin with anything.
static void settle_sources(struct line_list *list) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t source = list->lines[i].source;
        bool is_label = source != SAME_SOURCE && list->label_counts[source] >= LABELS_MIN;
        before = is_label ? source : before;
        list->lines[i].source = before;
        list->source_sizes[before]++;
    }
}

static bool is_blank_line(const uint8_t *at, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (at[i] != ' ' && at[i] != '\n') return false;
    }
    return true;
}

static size_t line_size(struct bytes text, size_t at) {
    const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
    return newline ? (size_t)(newline - text.data) - at + 1 : text.size - at;
}

// Blank ones as well, but not more than `most`.
static uint32_t count_lines(struct bytes text, uint32_t most) {
    uint32_t count = 1;
    for (size_t i = 0; i < text.size && count < most; i++) count += text.data[i] == '\n';
    return count;
}

// The prefix of a line. A name at its start counts where the line before or after has one as well.
static struct line_prefix prefix_of(struct bytes line, size_t name, bool is_among_names) {
    if (!name || !is_among_names) return line_prefix_read(line);
    if (name < line.size && line.data[name] == ' ') name++;
    struct line_prefix rest = line_prefix_read((struct bytes){line.data + name, line.size - name});
    uint64_t source = rest.source ? rest.source : line_prefix_hash((struct bytes){line.data, name});
    return (struct line_prefix){name + rest.size, source};
}

static size_t name_at(struct bytes text, size_t at) {
    return at < text.size ? line_prefix_name((struct bytes){text.data + at, line_size(text, at)}) : 0;
}

// False: there are more than the list has room for.
static bool split(struct bytes text, struct line_list *list) {
    uint32_t number = 1, source = 0;
    size_t before = 0, name = name_at(text, 0), after;
    list->source_count = 1;
    for (size_t at = 0, size; at < text.size; at += size, number++, before = name, name = after) {
        size = line_size(text, at);
        after = name_at(text, at + size);
        struct line_prefix prefix = prefix_of((struct bytes){text.data + at, size}, name, before || after);
        if (is_blank_line(text.data + at + prefix.size, size - prefix.size)) continue;
        source = source_of(list, prefix.source, source);
        if (source != SAME_SOURCE) list->label_counts[source]++;
        if (list->count == list->most) return false;
        list->lines[list->count++] = (struct raw_line){(uint32_t)(at + prefix.size), number, source};
    }
    settle_sources(list);
    return true;
}

// --- The text ---

// The lines by source, each where it is in the decoded log: a counting sort, which keeps their order.
static void order(const struct line_list *list, struct oom_text *text) {
    uint32_t starts[SOURCES_MAX], start = 0;
    for (uint32_t i = 0; i < list->source_count; i++) {
        starts[i] = start;
        start += list->source_sizes[i];
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const struct raw_line *line = &list->lines[i];
        text->lines[starts[line->source]++] = (struct oom_line){line->at, line->number};
    }
}

// From there into the text.
static void gather(struct bytes decoded, uint8_t *to, struct oom_text *text) {
    uint8_t *start = to;
    for (uint32_t i = 0; i < text->line_count; i++) {
        struct oom_line *line = &text->lines[i];
        size_t from = line->at, size = line_size(decoded, from);
        bool is_open = i && to > start && to[-1] != '\n';
        if (is_open) *to++ = '\n';  // the log's last line, cut, in the middle of the text
        line->at = (uint32_t)(to - start);
        memcpy(to, decoded.data + from, size);
        to += size;
    }
    text->text = (struct bytes){start, (size_t)(to - start)};
}

uint32_t oom_text_lines_max(size_t log_size) {
    size_t most = log_size / OOM_LINE_BYTES_MIN;
    return most < OOM_LINES_ALWAYS ? OOM_LINES_ALWAYS : (uint32_t)most;
}

bool oom_text_no_room(const struct arena *arena, struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "Reading this log takes more than %zu MiB; give the part around the error.",
                     arena->limit_bytes >> 20);
}

static bool find_lines(struct bytes decoded, size_t log_size, struct arena *arena, struct line_list *list,
                       struct error *error) {
    list->most = count_lines(decoded, oom_text_lines_max(log_size));
    list->lines = arena_push_raw(arena, list->most, sizeof *list->lines);
    if (!list->lines) return oom_text_no_room(arena, error);
    if (split(decoded, list)) return true;
    return error_set(error, ERROR_TOO_BIG, "The log has more than %u lines; give the part around the error.",
                     list->most);
}

static bool write_text(struct bytes decoded, const struct line_list *list, struct arena *arena, struct oom_text *text,
                       struct error *error) {
    uint8_t *to = arena_push_raw(arena, decoded.size + 1, 1);
    text->lines = arena_push_raw(arena, list->count + (size_t)1, sizeof *text->lines);
    if (!to || !text->lines) return oom_text_no_room(arena, error);
    text->line_count = list->count;
    order(list, text);
    gather(decoded, to, text);
    return true;
}

bool oom_text_read(struct bytes log, struct arena *arena, struct oom_text *text, struct error *error) {
    *text = (struct oom_text){0};
    if (log.size > OOM_LOG_BYTES_MAX)
        return error_set(error, ERROR_TOO_BIG, "The log is larger than %d MiB; give the part around the error.",
                         OOM_LOG_BYTES_MAX >> 20);
    uint8_t *decoding = arena_push_raw(arena, log.size + 1, 1);
    struct line_list *list = arena_new(arena, struct line_list, 1);
    if (!decoding || !list) return oom_text_no_room(arena, error);
    struct bytes decoded = decode(log, decoding);
    return find_lines(decoded, log.size, arena, list, error) && write_text(decoded, list, arena, text, error);
}

uint32_t oom_text_line(const struct oom_text *text, size_t at) {
    uint32_t low = 0, high = text->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (text->lines[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return text->line_count ? text->lines[low].number : 0;
}
