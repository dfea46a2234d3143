#include "analysis/advice/sharding_habits.h"

#include "analysis/advice/only_looked_up.h"
#include "analysis/advice/pooled.h"

struct sharding_habits sharding_habits_find(const struct advisor *advisor, bool is_uneven) {
    return (struct sharding_habits){.data = data_kind_of(advisor),
                                    .is_uneven = is_uneven,
                                    .is_training = advisor->roles.is_training,
                                    .is_over_time = advisor_is_over_time(advisor),
                                    .is_of_tables = only_looked_up_find(advisor).count > 0,
                                    .is_pooled = pooled_find(advisor)};
}

bool sharding_is_familiar(const struct sharding_habits *habits) {
    return habits->data.has_tokens && !habits->is_uneven && !habits->is_over_time && !habits->is_pooled;
}

// From what was seen of recompiled programs (docs/advice.md), in parts of the prediction.
void sharding_widen(const struct sharding_habits *habits, bool is_batch_split, bool is_for_gpu,
                    struct advice_item *item) {
    bool is_wide = (double)(item->high_bytes - item->low_bytes) > 0.1 * (double)item->predicted_total_bytes;
    if (habits->is_over_time)
        advice_widen(item, 0.30, 0.50);
    else if (!sharding_is_familiar(habits))
        advice_widen(item, is_for_gpu ? 0.30 : 0.22, 0.45);
    else if (is_batch_split && (!is_for_gpu || is_wide))
        advice_widen(item, is_for_gpu ? 0.30 : 0.20, is_for_gpu ? 0.50 : 0.35);
    else if (!is_batch_split && is_for_gpu && habits->is_training)
        advice_widen(item, 0.12, 0.40);
    if (habits->is_of_tables) advice_widen(item, 0.13, 0.35);
}
