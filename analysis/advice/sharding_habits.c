#include "analysis/advice/sharding_habits.h"

#include "analysis/advice/loop_steps.h"
#include "analysis/advice/pooled.h"

static bool is_integer(const struct array_shape *shape) {
    enum { FIRST_INTEGER = 2, LAST_INTEGER = 9 };
    return shape->element_type >= FIRST_INTEGER && shape->element_type <= LAST_INTEGER;
}

// Inputs that follow the batch: integers of two dimensions and more, numbers of three and more.
static void look_at_data(const struct advisor *advisor, struct sharding_habits *habits) {
    enum { TOKENS_RANK = 2, FRAMES_RANK = 3 };
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        if (leaf == HLO_NONE || !advisor->batch.marks[leaf]) continue;
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        habits->has_tokens |= is_integer(shape) && shape->rank >= TOKENS_RANK;
        habits->has_frames |= !is_integer(shape) && shape->rank >= FRAMES_RANK;
    }
}

bool sharding_habits_find(struct advisor *advisor, bool is_uneven, struct sharding_habits *habits) {
    *habits = (struct sharding_habits){.is_uneven = is_uneven, .is_over_time = advisor_is_over_time(advisor)};
    look_at_data(advisor, habits);
    return pooled_find(advisor, &habits->is_pooled);
}

bool sharding_is_familiar(const struct sharding_habits *habits) {
    return habits->has_tokens && !habits->is_uneven && !habits->is_over_time && !habits->is_pooled;
}

// From what was seen of recompiled programs (docs/advice.md), in parts of the prediction.
void sharding_widen(const struct sharding_habits *habits, bool is_batch_split, bool is_for_gpu,
                    struct advice_item *item) {
    if (habits->is_over_time)
        advice_widen(item, 0.22, 0.35);
    else if (habits->is_uneven)
        advice_widen(item, 0.12, 0.40);
    else if (!sharding_is_familiar(habits))
        advice_widen(item, 0.15, 0.25);
    else if (is_batch_split && !is_for_gpu)
        advice_widen(item, 0.12, 0.20);
}
