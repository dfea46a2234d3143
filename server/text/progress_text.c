#include "server/text/progress_text.h"

#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "server/text/printable.h"

enum { SHORTEST_PATH = 12, MINUTES_FROM_SECONDS = 120 };

static const char *or_nothing(const char *text) {
    return text ? text : "";
}

static const char *step_text(const struct progress_facts *facts, struct arena *arena) {
    if (!facts->step || facts->all < 2) return "";
    return or_nothing(arena_printf(arena, "%s %zu of %zu", facts->step, facts->done, facts->all));
}

static const char *amount_text(const struct reading_state *reading, struct arena *arena) {
    const char *read = size_string((int64_t)reading->read_bytes, arena);
    if (reading->listed_names) return or_nothing(arena_printf(arena, ", %" PRIu64 " names", reading->listed_names));
    if (reading->wanted_bytes > reading->read_bytes)
        return or_nothing(arena_printf(arena, ", %s of %s", read, size_string((int64_t)reading->wanted_bytes, arena)));
    return reading->read_bytes ? or_nothing(arena_printf(arena, ", %s", read)) : "";
}

static const char *left_text(double seconds, struct arena *arena) {
    if (seconds < 0) return "";
    if (seconds >= MINUTES_FROM_SECONDS) return or_nothing(arena_printf(arena, ", %.0f min left", seconds / 60));
    return or_nothing(arena_printf(arena, ", %.0f s left", seconds < 1 ? 1 : seconds));
}

const char *progress_text(const struct progress_facts *facts, size_t width, struct arena *arena) {
    const struct reading_state *reading = &facts->reading;
    const char *step = step_text(facts, arena), *left = left_text(facts->seconds_left, arena);
    const char *amount = amount_text(reading, arena), *verb = reading->listed_names ? "listing" : "reading";
    if (!reading->path[0]) return *step ? or_nothing(arena_printf(arena, "%s%s", step, left)) : "";
    const char *before = or_nothing(arena_printf(arena, "%s%s%s ", step, *step ? ": " : "", verb));
    size_t taken = printable_width(before) + printable_width(amount) + printable_width(left);
    size_t room = width > taken + SHORTEST_PATH ? width - taken : SHORTEST_PATH;
    const char *path = printable_shorten(printable_text(bytes_of(reading->path), arena), room, arena);
    const char *line = or_nothing(arena_printf(arena, "%s%s%s%s", before, path, amount, left));
    return printable_shorten(line, width, arena);
}
