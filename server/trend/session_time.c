#include "server/trend/session_time.h"

#include <string.h>
#include <time.h>

enum { YEAR_MIN = 1970, SECONDS_OF_DAY = 24 * 60 * 60 };

// `digits` of a number, and then a separator or the end of the text.
static bool read_number(const char **at, int digits, int64_t *number) {
    *number = 0;
    for (int i = 0; i < digits; i++, ++*at) {
        if (**at < '0' || **at > '9') return false;
        *number = *number * 10 + (**at - '0');
    }
    if (**at >= '0' && **at <= '9') return false;
    if (**at == '_' || **at == '-' || **at == ':' || **at == 'T') ++*at;
    return true;
}

// Days from 1970-01-01 in the Gregorian calendar; months are counted from March, so that leap days come last.
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

bool session_time_of_name(const char *session, int64_t *time_s) {
    const char *slash = strrchr(session, '/'), *at = slash ? slash + 1 : session;
    int64_t year, month, day, hour, minute, second;
    if (!read_number(&at, 4, &year) || !read_number(&at, 2, &month) || !read_number(&at, 2, &day)) return false;
    if (year < YEAR_MIN || month < 1 || month > 12 || day < 1 || day > 31) return false;
    *time_s = days_of(year, month, day) * SECONDS_OF_DAY;
    if (!read_number(&at, 2, &hour) || !read_number(&at, 2, &minute) || hour > 23 || minute > 59) return true;
    *time_s += hour * 60 * 60 + minute * 60;
    if (read_number(&at, 2, &second) && second < 60) *time_s += second;
    return true;
}

const char *session_date(int64_t time_s, bool has_clock, struct arena *arena) {
    struct tm parts;
    time_t moment = (time_t)time_s;
    char text[32];
    if (!gmtime_r(&moment, &parts) || !strftime(text, sizeof text, has_clock ? "%Y-%m-%d %H:%M" : "%Y-%m-%d", &parts))
        return "";
    const char *kept = arena_printf(arena, "%s", text);
    return kept ? kept : "";
}
