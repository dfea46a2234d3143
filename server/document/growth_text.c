#include "server/document/growth_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/size_text.h"

enum { NAME_SHOWN_BYTES = 200 };

// A slope of hostile sizes may not fit.
static const char *slope_text(double bytes, char text[SIZE_TEXT_BYTES]) {
    bool fits = bytes > -0x1p62 && bytes < 0x1p62;
    return size_text(fits ? (int64_t)bytes : bytes < 0 ? INT64_MIN : INT64_MAX, text);
}

static const char *name_of(const struct growth_op *op, struct arena *arena) {
    struct bytes shown = {op->op.data, op->op.size < NAME_SHOWN_BYTES ? op->op.size : NAME_SHOWN_BYTES};
    return shown.size ? arena_string(arena, shown) : "What no op was told for";
}

// "by 1.00 MiB in each of 11 steps"
static void pace_text(const struct step_growth *growth, const struct growth_op *op, char text[80]) {
    char size[SIZE_TEXT_BYTES];
    uint32_t transitions = growth->all_step_count - 1;
    bool is_even = (double)op->least_growth_bytes == op->slope_bytes;
    bool is_each = op->steps_growing == transitions;
    if (is_even)
        snprintf(text, 80, "by %s in each of %" PRIu32 " steps", size_text(op->least_growth_bytes, size), transitions);
    else if (is_each)
        snprintf(text, 80, "in each of %" PRIu32 " steps, by %s on average", transitions,
                 slope_text(op->slope_bytes, size));
    else
        snprintf(text, 80, "in %" PRIu32 " of %" PRIu32 " steps, by %s a step on average", op->steps_growing,
                 transitions, slope_text(op->slope_bytes, size));
}

static const char *leak_text(const struct step_growth *growth, const struct growth_op *op, struct arena *arena) {
    char pace[80], held[SIZE_TEXT_BYTES], together[SIZE_TEXT_BYTES];
    const char *name = name_of(op, arena), *others = "";
    pace_text(growth, op, pace);
    if (growth->leak_count > 1) {
        others = arena_printf(arena, " %" PRIu32 " more op%s; together they grow by %s a step.", growth->leak_count - 1,
                              growth->leak_count == 2 ? " grows too" : "s grow too",
                              slope_text(growth->leak_slope_bytes, together));
    }
    if (!name || !others) return NULL;
    return arena_printf(arena, "%s grew %s: %s held at the end, in %" PRIu32 " allocation%s.%s", name, pace,
                        size_text(op->held_at_end_bytes, held), op->held_at_end_count,
                        op->held_at_end_count == 1 ? "" : "s", others);
}

static const char *calm_text(const struct step_growth *growth, struct arena *arena) {
    char held[SIZE_TEXT_BYTES];
    return arena_printf(arena,
                        "No op holds more and more: of what these %" PRIu32
                        " steps allocated, %s are held at the end, and no op grew steadily.",
                        growth->all_step_count, size_text(growth->held_at_end_bytes, held));
}

static const char *few_steps_text(const struct step_growth *growth, struct arena *arena) {
    char held[SIZE_TEXT_BYTES];
    const char *steps = growth->all_step_count == 1 ? "step is" : "steps are";
    return arena_printf(arena,
                        "%" PRIu32 " %s too few to tell a leak from warming up (it takes %d); %s allocated meanwhile "
                        "are held at the end.",
                        growth->all_step_count, steps, STEP_GROWTH_MIN_STEPS,
                        size_text(growth->held_at_end_bytes, held));
}

const char *growth_text(const struct step_growth *growth, struct arena *arena) {
    const struct growth_op *worst = step_growth_worst(growth);
    if (worst) return leak_text(growth, worst, arena);
    return growth->all_step_count < STEP_GROWTH_MIN_STEPS ? few_steps_text(growth, arena) : calm_text(growth, arena);
}
