#include "analysis/oom/oom_size.h"

enum { DECIMALS_MAX = 3, BLANKS_INSIDE_MAX = 256 };

struct number {
    uint64_t whole;
    uint64_t decimals;
    uint64_t decimal_scale;  // 10 to the number of decimals
    bool has_point;
};

// A line's end inside a number, with the indentation after it. Blanks without a line's end part words.
static const uint8_t *past_break(const uint8_t *at, const uint8_t *end) {
    const uint8_t *next = at;
    bool has_break = false;
    while (next < end && oom_is_blank(*next) && next - at < BLANKS_INSIDE_MAX) has_break |= *next++ == '\n';
    return has_break && next < end ? next : at;
}

static bool add_digit(uint64_t *value, uint8_t digit) {
    if (*value > (INT64_MAX - 9) / 10) return false;
    *value = *value * 10 + (uint64_t)(digit - '0');
    return true;
}

// True at the first byte that is no digit.
static bool take_digits(struct oom_cursor *cursor, bool is_wrapped, uint64_t *value, size_t *count) {
    for (*count = 0;; (*count)++) {
        const uint8_t *at = is_wrapped ? past_break(cursor->at, cursor->end) : cursor->at;
        if (at == cursor->end || !oom_is_digit(*at)) return true;
        if (!add_digit(value, *at)) return false;
        cursor->at = at + 1;
    }
}

static bool take_number(struct oom_cursor *cursor, struct number *number) {
    size_t count;
    *number = (struct number){.decimal_scale = 1};
    cursor->at = oom_past_blanks(cursor->at, cursor->end);
    if (!take_digits(cursor, true, &number->whole, &count) || count == 0) return false;
    const uint8_t *point = past_break(cursor->at, cursor->end);
    if (point == cursor->end || *point != '.') return true;
    struct oom_cursor after = {point + 1, cursor->end};
    if (!take_digits(&after, true, &number->decimals, &count) || count > DECIMALS_MAX) return false;
    if (count == 0) return true;  // the full stop of a sentence
    number->has_point = true;
    while (count--) number->decimal_scale *= 10;
    *cursor = after;
    return true;
}

static bool ends_word(const uint8_t *at, const uint8_t *end) {
    return at == end || (!oom_is_letter(*at) && !oom_is_digit(*at));
}

// The rest of a unit ("iB", "B" or nothing) and the end of the word.
static const uint8_t *past_unit_tail(const uint8_t *at, const uint8_t *end) {
    struct oom_cursor rest = {at, end};
    if ((oom_take(&rest, "iB") || oom_take(&rest, "B")) && ends_word(rest.at, end)) return rest.at;
    return ends_word(at, end) ? at : NULL;
}

// The power of 1024 that a unit letter stands for; -1 for none.
static int exponent_of(uint8_t letter) {
    static const char letters[] = "BKMGTP";
    for (int i = 0; letters[i]; i++) {
        if ((uint8_t)letters[i] == letter) return i;
    }
    return letter == 'k' ? 1 : -1;
}

static bool take_unit(struct oom_cursor *cursor, int *exponent) {
    const uint8_t *at = oom_past_blanks(cursor->at, cursor->end);
    if (at == cursor->end) return false;
    *exponent = exponent_of(*at);
    if (*exponent < 0) return false;
    const uint8_t *after = *exponent ? past_unit_tail(at + 1, cursor->end) : at + 1;
    if (!after || !ends_word(after, cursor->end)) return false;
    cursor->at = after;
    return true;
}

static bool scale(const struct number *number, int exponent, int64_t *bytes) {
    uint64_t unit = (uint64_t)1 << (10 * exponent);
    if (number->has_point && exponent == 0) return false;
    if (number->whole > (uint64_t)(INT64_MAX / 2) / unit) return false;
    uint64_t part = (number->decimals * unit + number->decimal_scale / 2) / number->decimal_scale;
    *bytes = (int64_t)(number->whole * unit + (number->has_point ? part : 0));
    return true;
}

bool oom_take_size(struct oom_cursor *cursor, int64_t *bytes) {
    struct oom_cursor at = *cursor;
    struct number number;
    int exponent;
    if (!take_number(&at, &number) || !take_unit(&at, &exponent) || !scale(&number, exponent, bytes)) return false;
    *cursor = at;
    return true;
}

bool oom_take_size_before(struct oom_cursor *cursor, const char *words, int64_t *bytes) {
    struct oom_cursor at = *cursor;
    struct number number;
    int64_t found;
    if (!oom_take_size(&at, &found)) {
        if (!take_number(&at, &number) || number.has_point || number.whole > INT64_MAX / 2) return false;
        found = (int64_t)number.whole;
    }
    if (!oom_take(&at, words)) return false;
    *bytes = found;
    *cursor = at;
    return true;
}

bool oom_take_digits(struct oom_cursor *cursor, bool is_wrapped, int64_t *number) {
    struct oom_cursor at = {oom_past_blanks(cursor->at, cursor->end), cursor->end};
    uint64_t value = 0;
    size_t count;
    if (!take_digits(&at, is_wrapped, &value, &count) || count == 0 || at.at == at.end) return false;
    *cursor = at;
    *number = (int64_t)value;
    return true;
}

bool oom_take_percent(struct oom_cursor *cursor, double *percent) {
    struct oom_cursor at = *cursor;
    struct number number;
    if (!take_number(&at, &number) || !oom_take(&at, "%")) return false;
    *percent = (double)number.whole + (double)number.decimals / (double)number.decimal_scale;
    *cursor = at;
    return true;
}
