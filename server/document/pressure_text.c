#include "server/document/pressure_document.h"

#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "server/text/time_text.h"

enum { NAME_SHOWN_BYTES = 100 };

// "step 6", with the name that the program gave it where there is one.
static const char *step_text(const struct pressure_moment *moment, struct arena *arena) {
    size_t size = moment->step_name.size < NAME_SHOWN_BYTES ? moment->step_name.size : NAME_SHOWN_BYTES;
    const char *name = arena_string(arena, (struct bytes){moment->step_name.data, size});
    const char *number = arena_printf(arena, "%" PRId64, moment->step);
    if (!name || !number) return NULL;
    if (!size || strcmp(name, number) == 0) return arena_printf(arena, "step %s", number);
    return arena_printf(arena, "step %s, \"%s\"", number, name);
}

static const char *stall_end(const struct pressure_moment *moment, struct arena *arena) {
    return arena_printf(arena, "a request above %s %s here", size_string(moment->largest_free_bytes, arena),
                        moment->is_retry_long ? "failed" : "seems to have failed");
}

static const char *pause_end(const struct pressure_moment *moment, struct arena *arena) {
    return arena_printf(arena, "nothing says that memory was the reason; if a request failed here, it was above %s",
                        size_string(moment->largest_free_bytes, arena));
}

const char *pressure_moment_text(const struct pressure_told *told, const struct pressure_moment *moment,
                                 struct arena *arena) {
    bool is_stall = moment->kind == PRESSURE_STALL;
    const char *step = step_text(moment, arena);
    const char *end = is_stall ? stall_end(moment, arena) : pause_end(moment, arena);
    if (!step || !end) return NULL;
    return arena_printf(arena, "At %s (%s) the allocator %s for %s with %s free, %s of it in one piece: %s.",
                        time_string(moment->time_ps, arena), step, is_stall ? "stalled" : "was silent",
                        time_string(moment->until_ps - moment->time_ps, arena),
                        size_string(told->timeline->free_bytes[moment->row], arena),
                        size_string(moment->largest_free_bytes, arena), end);
}

// --- The whole ---

// "34.00 MiB (Mul)"
static const char *largest_request_text(const struct pressure_told *told, struct arena *arena) {
    const struct memory_pressure *p = told->pressure;
    if (p->largest_request == MEMORY_EVENT_NONE) return "none";
    struct bytes op = memory_timeline_site(told->profile, told->timeline, p->largest_request)->op;
    if (op.size > NAME_SHOWN_BYTES) op.size = NAME_SHOWN_BYTES;
    const char *name = arena_string(arena, op);
    if (!name) return NULL;
    return arena_printf(arena, op.size ? "%s (%s)" : "%s%s", size_string(p->largest_request_bytes, arena), name);
}

static const char *tightest_text(const struct pressure_told *told, const char *words, struct arena *arena) {
    const struct memory_pressure *p = told->pressure;
    const char *request = largest_request_text(told, arena);
    if (!request) return NULL;
    return arena_printf(
        arena, "%s: at %s the largest free block was %s (%s free in all), and the largest request seen is %s.", words,
        time_string(told->timeline->time_ps[p->tightest], arena), size_string(p->tightest_bytes, arena),
        size_string(told->timeline->free_bytes[p->tightest], arena), request);
}

static const char *failed_text(const struct pressure_told *told, struct arena *arena) {
    const struct memory_pressure *p = told->pressure;
    const struct pressure_moment *first = p->moments;
    while (first < p->moments + p->moment_count && first->kind != PRESSURE_STALL) first++;
    if (first == p->moments + p->moment_count) return tightest_text(told, "Requests failed", arena);
    const char *text = pressure_moment_text(told, first, arena);
    if (!text || p->stall_count == 1) return text;
    return arena_printf(arena, "%s It happened %" PRIu32 " times in all.", text, p->stall_count);
}

const char *pressure_text(const struct pressure_told *told, struct arena *arena) {
    switch (told->pressure->state) {
        case PRESSURE_UNKNOWN:
            return "This allocator never tells how much is free (TensorFlow's plain CPU allocator takes what the "
                   "machine "
                   "has), so nothing can be said about requests that would not fit.";
        case PRESSURE_ROOMY:
            return tightest_text(told, "Every request had room", arena);
        case PRESSURE_TIGHT:
            return tightest_text(told, "The largest request would not have fitted at every moment", arena);
        case PRESSURE_FAILED:
            return failed_text(told, arena);
    }
    return NULL;
}
