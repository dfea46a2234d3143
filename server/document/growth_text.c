#include "server/document/growth_document.h"

#include <inttypes.h>

#include "analysis/base/size_text.h"

enum { NAME_SHOWN_BYTES = 200 };

// A slope of hostile sizes may not fit.
static const char *slope_text(double bytes, struct arena *arena) {
    bool fits = bytes > -0x1p62 && bytes < 0x1p62;
    return size_string(fits ? (int64_t)bytes : bytes < 0 ? INT64_MIN : INT64_MAX, arena);
}

static const char *name_of(const struct growth_op *op, struct arena *arena) {
    struct bytes shown = {op->op.data, op->op.size < NAME_SHOWN_BYTES ? op->op.size : NAME_SHOWN_BYTES};
    return shown.size ? arena_string(arena, shown) : "What no op was told for";
}

// "by 1.00 MiB in each of 11 steps"
static const char *pace_text(const struct step_growth *growth, const struct growth_op *op, struct arena *arena) {
    uint32_t transitions = growth->all_step_count - 1;
    bool is_even = (double)op->least_growth_bytes == op->slope_bytes;
    if (is_even)
        return arena_printf(arena, "by %s in each of %" PRIu32 " steps", size_string(op->least_growth_bytes, arena),
                            transitions);
    const char *slope = slope_text(op->slope_bytes, arena);
    if (op->steps_growing == transitions)
        return arena_printf(arena, "in each of %" PRIu32 " steps, by %s on average", transitions, slope);
    return arena_printf(arena, "in %" PRIu32 " of %" PRIu32 " steps, by %s a step on average", op->steps_growing,
                        transitions, slope);
}

const char *growth_op_text(const struct step_growth *growth, const struct growth_op *op, struct arena *arena) {
    const char *name = name_of(op, arena), *pace = pace_text(growth, op, arena);
    return name && pace ? arena_printf(arena, "%s grew %s", name, pace) : NULL;
}

static const char *leak_text(const struct step_growth *growth, const struct growth_op *op, struct arena *arena) {
    const char *growing = growth_op_text(growth, op, arena), *others = "";
    if (growth->leak_count > 1) {
        others = arena_printf(arena, " %" PRIu32 " more op%s; together they grow by %s a step.", growth->leak_count - 1,
                              growth->leak_count == 2 ? " grows too" : "s grow too",
                              slope_text(growth->leak_slope_bytes, arena));
    }
    if (!growing || !others) return NULL;
    return arena_printf(arena, "%s: %s held at the end, in %" PRIu32 " allocation%s.%s", growing,
                        size_string(op->held_at_end_bytes, arena), op->held_at_end_count,
                        op->held_at_end_count == 1 ? "" : "s", others);
}

static const char *calm_text(const struct step_growth *growth, struct arena *arena) {
    return arena_printf(arena,
                        "No op holds more and more: of what these %" PRIu32
                        " steps allocated, %s are held at the end, and no op grew steadily.",
                        growth->all_step_count, size_string(growth->held_at_end_bytes, arena));
}

static const char *few_steps_text(const struct step_growth *growth, struct arena *arena) {
    const char *steps = growth->all_step_count == 1 ? "step is" : "steps are";
    return arena_printf(arena,
                        "%" PRIu32 " %s too few to tell a leak from warming up (it takes %d); %s allocated meanwhile "
                        "are held at the end.",
                        growth->all_step_count, steps, STEP_GROWTH_MIN_STEPS,
                        size_string(growth->held_at_end_bytes, arena));
}

const char *growth_text(const struct step_growth *growth, struct arena *arena) {
    const struct growth_op *worst = step_growth_worst(growth);
    if (worst) return leak_text(growth, worst, arena);
    return growth->all_step_count < STEP_GROWTH_MIN_STEPS ? few_steps_text(growth, arena) : calm_text(growth, arena);
}
