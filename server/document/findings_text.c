#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "server/document/findings_document.h"
#include "server/document/growth_document.h"
#include "server/text/time_text.h"

enum { NAME_SHOWN_BYTES = 100 };

// What every sentence is made from.
struct words {
    const struct findings_told *told;
    const struct profile_finding *finding;
    struct arena *arena;
};

static const char *size_of(const struct words *w) {
    return size_string(w->finding->bytes, w->arena);
}

static const char *op_of(const struct words *w) {
    struct bytes op = w->finding->op;
    if (op.size > NAME_SHOWN_BYTES) op.size = NAME_SHOWN_BYTES;
    const char *text = arena_string(w->arena, op);
    return text ? text : "";
}

// "278 ms (step 4)"
static const char *when(const struct words *w) {
    const char *text = arena_printf(w->arena, "%s (step %" PRId64 ")", time_string(w->finding->time_ps, w->arena),
                                    w->finding->step);
    return text ? text : "";
}

// --- Sentences ---

static const char *failed_text(const struct words *w) {
    bool is_one = w->finding->count == 1;
    const char *what = w->finding->is_sure ? "failed" : is_one ? "seems to have failed" : "seem to have failed";
    if (is_one) return arena_printf(w->arena, "A request above %s %s at %s", size_of(w), what, when(w));
    return arena_printf(w->arena, "%" PRIu32 " requests above %s %s, the first at %s", w->finding->count, size_of(w),
                        what, when(w));
}

static const char *pieces_text(const struct words *w) {
    const struct memory_timeline *t = w->told->evidence->timeline;
    return arena_printf(w->arena, "%.1f %% fragmented at %s: %s free, but no piece of %s", 100 * w->finding->share,
                        when(w), size_string(t->free_bytes[w->finding->row], w->arena), size_of(w));
}

static const char *tight_text(const struct words *w) {
    return arena_printf(w->arena, "After %" PRIu32 " event%s there was no room for the largest request seen, %s",
                        w->finding->count, w->finding->count == 1 ? "" : "s", size_of(w));
}

static const char *leak_text(const struct words *w) {
    const struct step_growth *growth = w->told->evidence->growth;
    const char *text = growth_op_text(growth, step_growth_worst(growth), w->arena);
    uint32_t others = w->finding->count - 1;
    if (!text || others == 0) return text;
    return arena_printf(w->arena, "%s, and %" PRIu32 " more op%s", text, others, others == 1 ? " grows" : "s grow");
}

static const char *peak_text(const struct words *w) {
    const char *of = "";
    if (w->finding->share * 100 >= 1) of = arena_printf(w->arena, ", %.1f %% of the capacity", 100 * w->finding->share);
    return of ? arena_printf(w->arena, "Peak of %s at %s%s", size_of(w), when(w), of) : NULL;
}

static const char *holder_text(const struct words *w) {
    bool is_told = w->told->evidence->breakdown->heap_is_told;
    return arena_printf(w->arena, "%s holds %s of %s (%.1f %%) in %" PRIu32 " allocation%s", op_of(w), size_of(w),
                        is_told ? "the peak" : "what the allocations seen hold at most", 100 * w->finding->share,
                        w->finding->count, w->finding->count == 1 ? "" : "s");
}

static const char *unseen_text(const struct words *w) {
    return arena_printf(w->arena, "%s of the heap at the peak (%.1f %%) %s", size_of(w), 100 * w->finding->share,
                        w->finding->is_sure ? "were in use before the profile began"
                                            : "were allocated before the profile began, or unseen");
}

static const char *fragmented_text(const struct words *w) {
    int64_t free_bytes = w->told->evidence->timeline->free_bytes[w->finding->row];
    return arena_printf(w->arena, "%.1f %% fragmented at the peak: %s of %s free in one piece", 100 * w->finding->share,
                        size_of(w), size_string(free_bytes, w->arena));
}

static const char *rounded_text(const struct words *w) {
    return arena_printf(w->arena, "Allocated is %.2f x what was requested, %s in all", w->finding->share, size_of(w));
}

const char *finding_text(const struct findings_told *told, const struct profile_finding *finding, struct arena *arena) {
    static const char *(*const texts[FINDING_KIND_COUNT])(const struct words *) = {
        [FINDING_FAILED] = failed_text,   [FINDING_PIECES] = pieces_text,
        [FINDING_TIGHT] = tight_text,     [FINDING_LEAK] = leak_text,
        [FINDING_PEAK] = peak_text,       [FINDING_HOLDER] = holder_text,
        [FINDING_UNSEEN] = unseen_text,   [FINDING_PEAK_FRAGMENTED] = fragmented_text,
        [FINDING_ROUNDED] = rounded_text,
    };
    struct words words = {told, finding, arena};
    return texts[finding->kind](&words);
}
