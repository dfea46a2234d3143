#include "server/text/time_text.h"

const char *time_string(int64_t time_ps, struct arena *arena) {
    double seconds = (double)time_ps / 1e12;
    bool is_short = seconds > -1 && seconds < 1;
    const char *text = is_short ? arena_printf(arena, "%.0f ms", seconds * 1e3)
                                : arena_printf(arena, "%.1f s", seconds);
    return text ? text : "";
}
