#include "analysis/oom/oom_loaded.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/size_text.h"

// Sizes are never negative.
static int64_t plus(int64_t a, int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

struct oom_loaded_program oom_loaded_program_of(const char *module, const struct memory_totals *totals,
                                                bool is_failing) {
    int64_t constants = totals->bytes[ALLOCATION_CONSTANT], temporaries = totals->bytes[ALLOCATION_TEMPORARY];
    return (struct oom_loaded_program){module, constants, temporaries, plus(constants, temporaries), is_failing};
}

static int largest_first(const void *left, const void *right) {
    const struct oom_loaded_program *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? 1 : -1;
    return strcmp(a->module, b->module);
}

// Of what is there, beside the one that failed.
static size_t add_up(struct oom_loaded *loaded) {
    int64_t temporaries = 0, most = 0;
    size_t others = 0;
    for (size_t i = 0; i < loaded->count; i++) {
        const struct oom_loaded_program *program = &loaded->programs[i];
        temporaries = plus(temporaries, program->temporary_bytes);
        if (program->temporary_bytes > most) most = program->temporary_bytes;
        if (program->is_failing) continue;
        others++;
        loaded->evicting_low_bytes = plus(loaded->evicting_low_bytes, program->constant_bytes);
        loaded->evicting_high_bytes = plus(loaded->evicting_high_bytes, program->size_bytes);
    }
    loaded->merging_high_bytes = temporaries - most;
    return others;
}

static void note(struct oom_loaded *loaded, const char *text) {
    if (text && loaded->note_count < OOM_LOADED_NOTES_MAX) loaded->notes[loaded->note_count++] = text;
}

static const char *told(const char *text) {
    return text ? text : "";
}

// Whether what evicting frees is enough, as far as the message tells what was asked for and what is free.
static const char *verdict(const struct oom_message *message, const struct oom_loaded *loaded, struct arena *arena) {
    int64_t asked = message->requested_bytes, free = message->free_bytes;
    if (asked == OOM_ABSENT || free == OOM_ABSENT) return "";
    const char *asked_text = size_string(asked, arena), *free_text = size_string(free, arena);
    if (free >= asked)
        return told(arena_printf(arena, " %s are free already, but in pieces: evicting may join them.", free_text));
    bool is_enough = plus(free, loaded->evicting_low_bytes) >= asked;
    bool may_be = plus(free, loaded->evicting_high_bytes) >= asked;
    const char *text = arena_printf(
        arena, " With the %s that are free, that %s enough for the %s that were asked for%s", free_text,
        is_enough ? "is"
        : may_be  ? "may be"
                  : "is not",
        asked_text, may_be ? "." : ": arrays hold the rest.");
    return told(text);
}

static void say(const struct oom_message *message, size_t others, struct arena *arena, struct oom_loaded *loaded) {
    const char *low = size_string(loaded->evicting_low_bytes, arena);
    const char *high = size_string(loaded->evicting_high_bytes, arena);
    const char *which = others == 1 ? "one" : told(arena_printf(arena, "%zu", others));
    if (others)
        note(loaded,
             arena_printf(arena, "Evicting the other %s frees between %s (constants) and %s (temporaries too).%s",
                          which, low, high, verdict(message, loaded, arena)));
    else if (!loaded->unread)
        note(loaded, "The session has no other program on this host: there is none to evict or to merge with.");
    if (loaded->merging_high_bytes > 0)
        note(loaded, arena_printf(arena,
                                  "Merging all of them into one jitted function frees at most %s: parts that run in "
                                  "turn share one place for temporaries.",
                                  size_string(loaded->merging_high_bytes, arena)));
    if (loaded->unread) note(loaded, arena_printf(arena, "%zu more could not be read in time.", loaded->unread));
    note(loaded, "Reasoned from the session's programs, not measured: which of them were loaded then no profile tells, "
                 "and their code is not counted.");
}

void oom_loaded_sum(const struct oom_message *message, struct arena *arena, struct oom_loaded *loaded) {
    loaded->evicting_low_bytes = loaded->evicting_high_bytes = 0;
    loaded->note_count = 0;
    if (loaded->count) qsort(loaded->programs, loaded->count, sizeof *loaded->programs, largest_first);
    size_t others = add_up(loaded);
    say(message, others, arena, loaded);
}
