#include "analysis/base/size_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const char *size_text(int64_t bytes, char text[SIZE_TEXT_BYTES]) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    enum { UNIT_COUNT = sizeof units / sizeof units[0] };
    const double next_unit = 1023.995;  // would be written as 1024.00
    if (bytes > -1024 && bytes < 1024) {
        snprintf(text, SIZE_TEXT_BYTES, "%" PRId64 " B", bytes);
        return text;
    }
    double value = (double)bytes / 1024;
    int unit = 0;
    for (; unit + 1 < UNIT_COUNT && (value >= next_unit || value <= -next_unit); unit++) value /= 1024;
    snprintf(text, SIZE_TEXT_BYTES, "%.2f %s", value, units[unit]);
    return text;
}

const char *size_string(int64_t bytes, struct arena *arena) {
    char text[SIZE_TEXT_BYTES];
    const char *kept = arena_string(arena, bytes_of(size_text(bytes, text)));
    return kept ? kept : "";
}

const char *size_exact_string(int64_t bytes, struct arena *arena) {
    char text[SIZE_TEXT_BYTES];
    if (bytes > -1024 && bytes < 1024) return size_string(bytes, arena);
    const char *kept = arena_printf(arena, "%s (%" PRId64 " bytes)", size_text(bytes, text), bytes);
    return kept ? kept : "";
}

// --- Reading ---

// Digits with a point or a comma among them. NULL: it is no such number.
static const char *read_number(const char *text, double *number, bool *is_whole) {
    enum { DIGITS_MAX = 32 };
    char digits[DIGITS_MAX + 1];
    size_t whole = strspn(text, "0123456789"), size = whole;
    if (text[whole] == '.' || text[whole] == ',') size += 1 + strspn(text + whole + 1, "0123456789");
    if (whole == 0 || size == whole + 1 || size > DIGITS_MAX) return NULL;
    memcpy(digits, text, size);
    digits[size] = '\0';
    *is_whole = size == whole;
    if (!*is_whole) digits[whole] = '.';
    *number = strtod(digits, NULL);
    return text + size;
}

// What the unit stands for; 0 for none.
static double unit_bytes(const char *unit) {
    static const char letters[] = "KMGTP";
    const char *letter = *unit ? strchr(letters, toupper((unsigned char)*unit)) : NULL;
    if (!*unit || strcasecmp(unit, "B") == 0) return 1;
    if (!letter || (unit[1] && strcasecmp(unit + 1, "B") != 0 && strcasecmp(unit + 1, "iB") != 0)) return 0;
    return ldexp(1, 10 * (int)(letter - letters + 1));
}

bool size_text_read(const char *text, int64_t *bytes) {
    double number;
    bool is_whole;
    const char *unit = read_number(text, &number, &is_whole);
    if (!unit) return false;
    double factor = unit_bytes(unit + strspn(unit, " ")), size = round(number * factor);
    if (!(size >= 1) || size > 0x1p60 || (factor == 1 && !is_whole)) return false;
    *bytes = (int64_t)size;
    return true;
}
