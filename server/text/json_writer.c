#include "server/text/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/text/utf8.h"

enum { INT64_DIGITS_MAX = 20, MIB_DIGITS_MAX = 48, MIB_SHIFT = 20, QUOTES_AND_MORE = 4 };

static const char DIGIT_PAIRS[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                  "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

static void separate(struct json_writer *w) {
    if (w->needs_comma) output_append_char(w->output, ',');
    w->needs_comma = true;
}

static void open_with(struct json_writer *w, char bracket) {
    separate(w);
    output_append_char(w->output, bracket);
    w->needs_comma = false;
}

static void close_with(struct json_writer *w, char bracket) {
    output_append_char(w->output, bracket);
    w->needs_comma = true;
}

void json_open_object(struct json_writer *w) {
    open_with(w, '{');
}

void json_close_object(struct json_writer *w) {
    close_with(w, '}');
}

void json_open_array(struct json_writer *w) {
    open_with(w, '[');
}

void json_close_array(struct json_writer *w) {
    close_with(w, ']');
}

void json_write_null(struct json_writer *w) {
    separate(w);
    output_append(w->output, BYTES("null"));
}

void json_write_bool(struct json_writer *w, bool value) {
    separate(w);
    output_append(w->output, value ? BYTES("true") : BYTES("false"));
}

// Writes the digits of `value` so that they end before `end`; returns where they start.
static char *put_digits(char *end, uint64_t value) {
    while (value >= 100) {
        end -= 2;
        memcpy(end, DIGIT_PAIRS + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value < 10) {
        *--end = (char)('0' + value);
        return end;
    }
    end -= 2;
    memcpy(end, DIGIT_PAIRS + 2 * value, 2);
    return end;
}

static uint64_t magnitude_of(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

// Writes `value` to `to` (INT64_DIGITS_MAX bytes free); returns its length.
static size_t put_int64(char *to, int64_t value) {
    char digits[INT64_DIGITS_MAX];
    char *end = digits + sizeof digits, *start = put_digits(end, magnitude_of(value));
    if (value < 0) *--start = '-';
    size_t size = (size_t)(end - start);
    memcpy(to, start, size);
    return size;
}

void json_write_int64(struct json_writer *w, int64_t value) {
    separate(w);
    char *to = output_reserve(w->output, INT64_DIGITS_MAX);
    if (to) output_advance(w->output, put_int64(to, value));
}

void json_write_int64_text(struct json_writer *w, int64_t value) {
    separate(w);
    char *to = output_reserve(w->output, INT64_DIGITS_MAX + QUOTES_AND_MORE);
    if (!to) return;
    size_t size = put_int64(to + 1, value);
    to[0] = to[size + 1] = '"';
    output_advance(w->output, size + 2);
}

void json_write_uint64(struct json_writer *w, uint64_t value) {
    separate(w);
    char digits[INT64_DIGITS_MAX];
    char *end = digits + sizeof digits, *start = put_digits(end, value);
    output_append(w->output, (struct bytes){(const uint8_t *)start, (size_t)(end - start)});
}

// fraction / 2^20, fraction < 2^20: ends by itself, after twenty digits at most.
static size_t put_fraction(char *to, uint64_t fraction) {
    const uint64_t mask = ((uint64_t)1 << MIB_SHIFT) - 1;
    size_t size = 0;
    for (to[size++] = '.'; fraction; fraction = (fraction * 10) & mask) {
        to[size++] = (char)('0' + (fraction * 10 >> MIB_SHIFT));
    }
    return size;
}

void json_write_mib(struct json_writer *w, int64_t bytes) {
    separate(w);
    char *to = output_reserve(w->output, MIB_DIGITS_MAX);
    if (!to) return;
    uint64_t magnitude = magnitude_of(bytes), fraction = magnitude & (((uint64_t)1 << MIB_SHIFT) - 1);
    size_t size = 0;
    if (bytes < 0) to[size++] = '-';
    size += put_int64(to + size, (int64_t)(magnitude >> MIB_SHIFT));
    if (fraction) size += put_fraction(to + size, fraction);
    output_advance(w->output, size);
}

void json_write_double(struct json_writer *w, double value) {
    if (!isfinite(value)) {
        json_write_null(w);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    separate(w);
    output_append(w->output, bytes_of(text));
}

static void put_escape(struct output *output, uint8_t c) {
    static const char hex[] = "0123456789abcdef";
    static const char short_escapes[] = "btn\0fr";  // of \b .. \r
    if (c == '"' || c == '\\') {
        output_append(output, (struct bytes){(const uint8_t[]){'\\', c}, 2});
    } else if (c >= '\b' && c <= '\r' && short_escapes[c - '\b']) {
        output_append(output, (struct bytes){(const uint8_t[]){'\\', (uint8_t)short_escapes[c - '\b']}, 2});
    } else {
        output_append(output, BYTES("\\u00"));
        output_append_char(output, hex[c >> 4]);
        output_append_char(output, hex[c & 15]);
    }
}

static bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

static void put_special(struct output *output, struct bytes text, size_t *at) {
    uint8_t c = text.data[*at];
    if (c < 0x80) {
        put_escape(output, c);
        (*at)++;
        return;
    }
    struct utf8_step step = utf8_next(text.data + *at, text.size - *at);
    output_append(output, step.is_valid ? (struct bytes){text.data + *at, step.size} : BYTES("\xEF\xBF\xBD"));
    *at += step.size;
}

// Copies bytes as long as none needs an escape; returns how many. Most strings are plain as a whole, so they are looked
// at by blocks: compilers make one instruction of what is done with all bytes of one.
static size_t copy_plain(char *to, const uint8_t *text, size_t size) {
    typedef uint8_t byte_block __attribute__((vector_size(16)));
    size_t run = 0;
    for (size_t at; run < size && size >= sizeof(byte_block); run = at + sizeof(byte_block)) {
        byte_block block;
        uint64_t special[sizeof block / sizeof(uint64_t)];
        at = size - run < sizeof block ? size - sizeof block : run;  // the last one overlaps
        memcpy(&block, text + at, sizeof block);
        memcpy(to + at, &block, sizeof block);
        byte_block is_special = (byte_block)((block < 0x20) | (block >= 0x7F) | (block == '"') | (block == '\\'));
        memcpy(special, &is_special, sizeof special);
        if (special[0] | special[1]) break;
    }
    for (; run < size && is_plain(text[run]); run++) to[run] = (char)text[run];
    return run;
}

// What has characters that need an escape or a repair, from byte `at` on.
static void put_rest(struct output *output, struct bytes text, size_t at) {
    while (at < text.size) {
        put_special(output, text, &at);
        char *to = output_reserve(output, text.size - at);
        if (!to) return;
        size_t run = copy_plain(to, text.data + at, text.size - at);
        output_advance(output, run);
        at += run;
    }
    output_append_char(output, '"');
}

void json_write_string(struct json_writer *w, struct bytes text) {
    char *to = output_reserve(w->output, text.size + QUOTES_AND_MORE), *start = to;
    if (!to) return;
    if (w->needs_comma) *to++ = ',';
    w->needs_comma = true;
    *to++ = '"';
    size_t run = copy_plain(to, text.data, text.size);
    to += run;
    if (run == text.size) *to++ = '"';
    output_advance(w->output, (size_t)(to - start));
    if (run < text.size) put_rest(w->output, text, run);
}

void json_write_text(struct json_writer *w, const char *text) {
    if (text)
        json_write_string(w, bytes_of(text));
    else
        json_write_null(w);
}

void json_key(struct json_writer *w, const char *key) {
    struct bytes text = bytes_of(key);
    char *to = output_reserve(w->output, text.size + QUOTES_AND_MORE), *start = to;
    if (!to) return;
    if (w->needs_comma) *to++ = ',';
    w->needs_comma = false;
    *to++ = '"';
    memcpy(to, text.data, text.size);
    to += text.size;
    *to++ = '"';
    *to++ = ':';
    output_advance(w->output, (size_t)(to - start));
}

void json_end_key(struct json_writer *w) {
    output_append_char(w->output, ':');
    w->needs_comma = false;
}

// The comma that comes before the value is not part of it.
struct json_part json_part_begin(const struct json_writer *w) {
    return (struct json_part){.offset = w->output->size + (w->needs_comma ? 1 : 0)};
}

void json_part_end(const struct json_writer *w, struct json_part *part) {
    part->size = w->output->size - part->offset;
}

void json_write_again(struct json_writer *w, struct json_part part) {
    separate(w);
    char *to = output_reserve(w->output, part.size);
    if (!to) return;
    memcpy(to, w->output->data + part.offset, part.size);
    output_advance(w->output, part.size);
}

void json_write_members(struct json_writer *w, struct bytes members) {
    separate(w);
    output_append(w->output, members);
}

void json_open_object_key(struct json_writer *w, const char *key) {
    json_key(w, key);
    json_open_object(w);
}

void json_open_array_key(struct json_writer *w, const char *key) {
    json_key(w, key);
    json_open_array(w);
}

void json_write_bool_key(struct json_writer *w, const char *key, bool value) {
    json_key(w, key);
    json_write_bool(w, value);
}

void json_write_int64_key(struct json_writer *w, const char *key, int64_t value) {
    json_key(w, key);
    json_write_int64(w, value);
}

void json_write_known_key(struct json_writer *w, const char *key, bool is_known, int64_t value) {
    json_key(w, key);
    if (is_known)
        json_write_int64(w, value);
    else
        json_write_null(w);
}

void json_write_string_key(struct json_writer *w, const char *key, struct bytes text) {
    json_key(w, key);
    json_write_string(w, text);
}

void json_write_text_key(struct json_writer *w, const char *key, const char *text) {
    json_key(w, key);
    json_write_text(w, text);
}

void json_write_mib_key(struct json_writer *w, const char *key, int64_t bytes) {
    json_key(w, key);
    json_write_mib(w, bytes);
}

void json_write_texts_key(struct json_writer *w, const char *key, const char *const *texts, size_t count) {
    json_open_array_key(w, key);
    for (size_t i = 0; i < count; i++) json_write_text(w, texts[i]);
    json_close_array(w);
}

// Columns reserve for a run of numbers at a time: the hot path of bulk replies.
enum { COLUMN_RUN = 256 };

static int64_t column_value(const struct json_column *column, size_t i) {
    const void *at = (const char *)column->first + i * column->row_size;
    return column->is_wide ? *(const int64_t *)at : *(const uint32_t *)at;
}

static int64_t column_entry(const struct json_column *column, size_t i) {
    int64_t value = column_value(column, i);
    if (!column->as_differences || i == 0) return value;
    return (int64_t)((uint64_t)value - (uint64_t)column_value(column, i - 1));
}

void json_write_column(struct json_writer *w, const char *key, struct json_column column) {
    json_open_array_key(w, key);
    for (size_t done = 0; done < column.count;) {
        char *to = output_reserve(w->output, (size_t)COLUMN_RUN * (INT64_DIGITS_MAX + 1)), *start = to;
        if (!to) return;
        size_t end = column.count - done < COLUMN_RUN ? column.count : done + COLUMN_RUN;
        for (; done < end; done++) {
            if (done) *to++ = ',';
            to += put_int64(to, column_entry(&column, done));
        }
        output_advance(w->output, (size_t)(to - start));
    }
    json_close_array(w);
}

void json_write_int64_column(struct json_writer *w, const char *key, const int64_t *values, size_t count) {
    json_write_column(w, key, (struct json_column){values, true, count, sizeof *values, false});
}

void json_write_uint32_column(struct json_writer *w, const char *key, const uint32_t *values, size_t count) {
    json_write_column(w, key, (struct json_column){values, false, count, sizeof *values, false});
}

void string_table_write(const struct string_table *table, struct json_writer *w) {
    json_open_array_key(w, "strings");
    for (uint32_t i = 0; i < table->count; i++) json_write_string(w, table->texts[i]);
    json_close_array(w);
}
