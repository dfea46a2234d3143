#include "server/text/size_argument.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// 0 for none.
static double unit_bytes(const char *unit) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unit += strspn(unit, " ");
    if (!*unit) return 1;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcasecmp(unit, names[i]) == 0) return ldexp(1, 10 * i);
    }
    return 0;
}

bool size_argument_read(const char *text, int64_t *bytes) {
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double number = strtod(text, &end);
    double size = number * unit_bytes(text + digits);
    if (digits == 0 || end != text + digits || !(size >= 1) || size > 0x1p60) return false;
    *bytes = (int64_t)size;
    return true;
}
