#include "server/text/size_text.h"

#include <inttypes.h>
#include <stdio.h>

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
