#include "analysis/oom/line_prefix.h"

#include <string.h>

#include "analysis/oom/oom_cursor.h"

enum { LABEL_BYTES_MAX = 80, PREFIX_PARTS_MAX = 8 };

// --- Patterns ---

static bool is_logger_byte(uint8_t c) {
    return (c >= 'a' && c <= 'z') || oom_is_digit(c) || c == '_' || c == '.';
}

static bool matches_one(uint8_t c, char wanted) {
    if (wanted == '9') return oom_is_digit(c);
    if (wanted == 'A') return oom_is_letter(c);
    if (wanted == '~') return c > ' ';
    return c == (uint8_t)wanted;
}

// Matches `text` from its start: 9 one digit, A one letter, ~ any byte but a blank, + a run of the one before it,
// others themselves. Returns where the match ends; 0: it does not match.
static size_t match(struct bytes text, const char *pattern) {
    size_t at = 0;
    for (; *pattern; pattern++) {
        bool is_run = pattern[1] == '+';
        if (at == text.size || !matches_one(text.data[at], *pattern)) return 0;
        at++;
        while (is_run && at < text.size && at < LABEL_BYTES_MAX && matches_one(text.data[at], *pattern)) at++;
        if (is_run) pattern++;
    }
    return at;
}

static struct bytes rest_of(struct bytes text, size_t at) {
    return (struct bytes){text.data + at, text.size - at};
}

static size_t match_after(struct bytes text, size_t at, const char *pattern) {
    size_t size = at ? match(rest_of(text, at), pattern) : 0;
    return size ? at + size : 0;
}

static size_t longest(struct bytes text, size_t at, const char *const *patterns, size_t count) {
    size_t end = at;
    for (size_t i = 0; at && i < count; i++) {
        size_t here = match_after(text, at, patterns[i]);
        if (here > end) end = here;
    }
    return end;
}

// --- Parts of a prefix: each returns the size of what it knows, 0 for none ---

static size_t timestamp(struct bytes line) {
    static const char *const dates[] = {"9999-99-99T99:99:99", "9999-99-99 99:99:99", "9999/99/99 99:99:99", "99:99:99",
                                        "AAA 99 99:99:99",     "AAA  9 99:99:99"};
    static const char *const fractions[] = {".9+", ",9+"};
    static const char *const zones[] = {"Z", "+99:99", "+9999", "-99:99", "-9999", " UTC"};
    size_t open = line.size && line.data[0] == '[' ? 1 : 0, at = 0;
    for (size_t i = 0; i < sizeof dates / sizeof dates[0] && !at; i++) at = match(rest_of(line, open), dates[i]);
    if (!at) return 0;
    at = longest(line, at + open, fractions, 2);
    at = longest(line, at, zones, sizeof zones / sizeof zones[0]);
    if (open && at < line.size && line.data[at] == ']') at++;
    if (at < line.size && line.data[at] == ':') at++;
    return at;
}

// "E0102 03:04:05.678901   42 hbm.cc:12]", and TensorFlow's "W external/xla/bfc_allocator.cc:497]".
static size_t source_header(struct bytes line) {
    if (!line.size || !strchr("EWIFDC", line.data[0])) return 0;
    size_t close = 0;
    while (close < line.size && close < (size_t)2 * LABEL_BYTES_MAX && line.data[close] != ']') close++;
    if (close < 3 || close >= line.size || line.data[close] != ']') return 0;
    bool is_glog = match(line, "A9999 99:99:99") != 0;
    bool is_short = match(line, "A ~+") == close + 1 && oom_is_digit(line.data[close - 1]);
    return is_glog || is_short ? close + 1 : 0;
}

// A logger's name behind a level: ":root:" and " train: ", in small letters; the fields of a message have capitals.
static size_t logger(struct bytes line, size_t at) {
    if (at == line.size || (line.data[at] != ':' && line.data[at] != ' ')) return 0;
    size_t end = at + 1, start = end;
    while (end < line.size && end - start < LABEL_BYTES_MAX && is_logger_byte(line.data[end])) end++;
    if (end == start || end == line.size || line.data[end] != ':') return 0;
    end++;
    bool is_word = line.data[at] == ':' || end == line.size || line.data[end] == ' ';
    return is_word ? end : 0;
}

// "ERROR", "WARNING:", "ERROR:root:", "ERROR train:".
static size_t level(struct bytes line) {
    static const char *const words[] = {"ERROR",    "WARNING",  "WARN",     "INFO",     "DEBUG",   "FATAL",
                                        "CRITICAL", "stderr F", "stdout F", "stderr P", "stdout P"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i]);
        if (line.size < size || memcmp(line.data, words[i], size) != 0) continue;
        size_t named = logger(line, size);
        if (named) return named;
        if (size < line.size && (line.data[size] == ':' || line.data[size] == ']')) size++;
        return size == line.size || line.data[size] == ' ' || line.data[size - 1] == ':' ? size : 0;
    }
    return 0;
}

static bool is_label_byte(uint8_t c) {
    return oom_is_letter(c) || oom_is_digit(c) || (c && strchr("-_.,/: =", c));
}

// "[rank3]:", "[1,3]<stderr>:", "(train pid=7, ip=10.0.0.1)".
static size_t bracketed(struct bytes line) {
    if (!line.size || (line.data[0] != '[' && line.data[0] != '(')) return 0;
    uint8_t close = line.data[0] == '[' ? ']' : ')';
    size_t at = 1;
    bool has_letter = false, has_pid = false;
    for (; at < line.size && at < LABEL_BYTES_MAX && is_label_byte(line.data[at]); at++) {
        has_letter |= oom_is_letter(line.data[at]);
        has_pid |= line.size - at > 4 && memcmp(line.data + at, "pid=", 4) == 0;
    }
    if (at == line.size || line.data[at] != close || at == 1) return 0;
    at++;
    if (close == ')') return has_pid ? at : 0;
    size_t stream = match_after(line, at, "<A+>:");
    if (stream) return stream;
    if (at < line.size && line.data[at] == ':') return at + 1;
    return has_letter && at < line.size && line.data[at] == ' ' ? at : 0;
}

// "tpu-vm-1: ", as pdsh writes it: a name with a hyphen and a digit, which no field of a message has.
static size_t host(struct bytes line) {
    size_t at = 0;
    bool has_hyphen = false, has_digit = false;
    for (; at < line.size && at < LABEL_BYTES_MAX; at++) {
        uint8_t c = line.data[at];
        if (!oom_is_letter(c) && !oom_is_digit(c) && (at == 0 || (c != '-' && c != '.'))) break;
        has_hyphen |= c == '-';
        has_digit |= oom_is_digit(c);
    }
    return has_hyphen && has_digit && match(rest_of(line, at), ": ") ? at + 1 : 0;
}

// --- Parts that only a time tells from a message's own words ---

static size_t blanks(struct bytes line) {
    size_t at = 0;
    while (at < line.size && at < LABEL_BYTES_MAX && line.data[at] == ' ') at++;
    return at;
}

static bool is_divider(struct bytes line, size_t at) {
    return at + 1 < line.size && (line.data[at] == '-' || line.data[at] == '|') && line.data[at + 1] == ' ';
}

// "- ", "| ", and with the field behind it where another divider follows: "- train ", "| ERROR    ", "| f:53 ".
static size_t divided_field(struct bytes line) {
    size_t start = blanks(line);
    if (!is_divider(line, start)) return 0;
    size_t field = match_after(line, start + 2, "~+");
    size_t end = field ? field + blanks(rest_of(line, field)) : 0;
    return end > field && is_divider(line, end) ? end : start + 1;
}

// "myhost train[123]:", as syslog and the journal write it: a process.
static size_t host_process(struct bytes line) {
    size_t at = match(line, "~+ ");
    size_t name = at;
    while (at && at < line.size && at - name < LABEL_BYTES_MAX && line.data[at] > ' ' && line.data[at] != '[') at++;
    return at > name ? match_after(line, at, "[9+]:") : 0;
}

// "train.py:53]", as absl writes it behind a time.
static size_t place(struct bytes line) {
    size_t at = 0;
    bool has_colon = false;
    for (; at < line.size && at < LABEL_BYTES_MAX && line.data[at] > ' ' && line.data[at] != ']'; at++)
        has_colon |= line.data[at] == ':';
    bool is_place = has_colon && at < line.size && line.data[at] == ']' && oom_is_digit(line.data[at - 1]);
    return is_place ? at + 1 : 0;
}

// "[__main__]" of "[__main__][ERROR] - ".
static size_t bracketed_field(struct bytes line) {
    size_t at = match(line, "[~");
    while (at && at < line.size && at < LABEL_BYTES_MAX && line.data[at] > ' ' && line.data[at] != ']') at++;
    if (!at || at == line.size || line.data[at] != ']') return 0;
    struct bytes behind = rest_of(line, at + 1);
    return match(behind, "[") || match(behind, " - ") ? at + 1 : 0;
}

// --- Processes ---

// "3: ", "worker-0: ", "worker 3: ", "host3> ", "pod-0 | ".
static size_t worker(struct bytes line) {
    static const char *const names[] = {
        "9+: ",     "9+.9+.9+.9+: ", "worker-9+:",  "worker_9+:", "worker9+:", "worker 9+:",
        "host-9+:", "host9+:",       "rank9+:",     "rank 9+:",   "task9+:",   "task-9+:",
        "node9+:",  "node-9+:",      "process 9+:", "proc9+:",    "> ",        "| "};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size = match(line, names[i]);
        if (size) return line.data[size - 1] == ' ' ? size - 1 : size;
    }
    size_t at = 0;
    while (at < line.size && at < LABEL_BYTES_MAX && is_label_byte(line.data[at]) && line.data[at] != ' ') at++;
    size_t name = at;
    while (at < line.size && line.data[at] == ' ') at++;
    return name && match(rest_of(line, at), "| ") ? at + 1 : 0;
}

// --- The whole ---

uint64_t line_prefix_hash(struct bytes label) {
    uint64_t value = 0xcbf29ce484222325u;  // FNV-1a
    for (size_t i = 0; i < label.size; i++) value = (value ^ label.data[i]) * 0x100000001b3u;
    return value | 1;
}

// What stands behind a time. `source`: of the process, where it tells that.
static size_t part_after_time(struct bytes line, uint64_t *source) {
    size_t size = bracketed_field(line);
    if (!size) size = divided_field(line);
    if (!size) size = place(line);
    if (size) return size;
    size = host_process(line);
    if (size) *source = line_prefix_hash((struct bytes){line.data, size});
    return size;
}

static size_t part(struct bytes line, bool *is_timed, uint64_t *source) {
    size_t size = timestamp(line);
    *is_timed |= size > 0;
    if (!size) size = source_header(line);
    if (!size) size = level(line);
    if (!size && *is_timed) size = part_after_time(line, source);
    if (size) return size;
    size = bracketed(line);
    if (!size) size = worker(line);
    if (!size) size = host(line);
    if (size > 1) *source = line_prefix_hash((struct bytes){line.data, size});
    return size;
}

struct line_prefix line_prefix_read(struct bytes line) {
    struct line_prefix prefix = {0};
    bool is_timed = false;
    for (int i = 0; i < PREFIX_PARTS_MAX; i++) {
        size_t size = part(rest_of(line, prefix.size), &is_timed, &prefix.source);
        if (!size) break;
        prefix.size += size;
        if (prefix.size < line.size && line.data[prefix.size] == ' ') prefix.size++;
    }
    return prefix;
}

size_t line_prefix_name(struct bytes line) {
    size_t at = 0;
    while (at < line.size && at < LABEL_BYTES_MAX && (is_logger_byte(line.data[at]) || line.data[at] == '-')) at++;
    bool is_name = at > 0 && line.data[0] >= 'a' && line.data[0] <= 'z';
    return is_name && match(rest_of(line, at), ": ") ? at + 1 : 0;
}
