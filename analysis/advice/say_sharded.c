#include "analysis/advice/say_sharded.h"

#include "analysis/advice/looked_up.h"
#include "analysis/advice/near_capacity.h"
#include "analysis/advice/unaliased.h"

// Of such leaves, what a chip has of what is at today's peak.
static int64_t at_peak_of(const struct advisor *advisor, const struct sharded *sharded, const uint8_t *leaves) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double bytes = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count && leaves && sharded->then.sizes; i++) {
        uint32_t buffer = replay->live_at_peak[i], leaf = advisor_leaf(advisor, buffer);
        if (leaf != HLO_NONE && leaves[leaf]) bytes += (double)sharded->then.sizes[buffer];
    }
    return what_if_bytes(bytes);
}

static void say_sums(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    if (sharded->summed_whole.product_bytes)
        advisor_say(advisor, item,
                    "A product is summed over the chips before they share its %s: %s of it is whole on each%s.",
                    sharded->summed_whole.is_of_examples ? "examples" : "columns",
                    size_string(sharded->summed_whole.product_bytes, advisor->arena),
                    sharded_partial_sum_bytes(advisor, sharded) ? ", perhaps twice" : "");
    if (summed_twice_bytes(sharded))
        advisor_say(advisor, item,
                    "A product whose rows the chips share is summed over them and stays whole: where the compiler "
                    "does not write the sum over a chip's part, %s of it lie there beside it.",
                    size_string(sharded->summed_whole.twice_bytes, advisor->arena));
    int64_t kept_bytes = at_peak_of(advisor, sharded, sharded->summed_leaves);
    if (kept_bytes)
        advisor_say(advisor, item,
                    "Products that are summed over the chips, and whose columns or heads fill no whole tiles on each, "
                    "stay whole: %s of them at the peak.",
                    size_string(kept_bytes, advisor->arena));
}

static void say_pictures(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    int64_t whole_bytes = at_peak_of(advisor, sharded, sharded->pictures.leaves);
    const char *whole = size_string(whole_bytes, advisor->arena);
    if (sharded->pictures.at_end_bytes)
        advisor_say(
            advisor, item,
            "Each convolution gathers its whole input, which stays so for the gradient of its kernel: %s of such "
            "inputs at the peak.",
            whole);
    else if (sharded->split.is_by_features && !sharded->is_batch_split)
        advisor_say(advisor, item, "Each convolution gathers its whole input first: up to %s at a time.",
                    size_string(sharded_added_bytes(advisor, sharded), advisor->arena));
    else if (whole_bytes)
        advisor_say(advisor, item,
                    "Convolutions of groups of features, and those that the features win over the examples, have "
                    "whole batches on each chip: %s at the peak.",
                    whole);
}

static void say_table(const struct advisor *advisor, const struct sharding_split *split, struct advice_item *item) {
    const struct array_shape *table = advisor->roles.is_training ? looked_up_in_columns(advisor, split) : NULL;
    if (!table) return;
    unsigned long long rows = (uint64_t)table->dimensions[0], ways = (uint64_t)advisor->request.ways;
    advisor_say(advisor, item,
                "A table of %llu rows, which %llu chips do not divide, is split by columns: what is looked up follows "
                "it, so that the batch may stay whole. Pad it to %llu rows.",
                rows, ways, rows + ways - rows % ways);
}

static void say_operands(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    int64_t bytes = at_peak_of(advisor, sharded, sharded->whole_operands);
    if (bytes <= advisor->what_if.total_bytes / ADVICE_WORTH_DIVISOR) return;
    advisor_say(
        advisor, item,
        "Products with weights whose columns the chips share ([out, in], say) need whole activations, which stay "
        "so until the backward pass: %s of them at the peak.",
        size_string(bytes, advisor->arena));
}

static void say_zeros(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    if (sharded_beyond_with_zeros(sharded) <= advisor->what_if.total_bytes / ADVICE_WORTH_DIVISOR) return;
    advisor_say(
        advisor, item,
        "Zeros that gradients begin as, and others that an optimizer reads beside them, depend on nothing: several "
        "chips make them early, so that %s of them are there at once on each.",
        size_string(sharded->zeros.bytes, advisor->arena));
}

static void say_unaliased(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    int64_t bytes = unaliased_bytes(advisor, &sharded->split, sharded->is_batch_split);
    if (bytes <= advisor->what_if.total_bytes / ADVICE_WORTH_DIVISOR) return;
    advisor_say(advisor, item,
                "Donated inputs stay whole on each chip, while what takes their place is split: %s of it has no place "
                "in them.",
                size_string(bytes, advisor->arena));
}

void say_sharded(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    if (sharded->is_batch_split) say_table(advisor, &sharded->split, item);
    if (advisor->is_rematerialized && !near_capacity_is(advisor))
        advisor_say(advisor, item,
                    "The compiler recomputes arrays here for want of memory (names with .remat); with room "
                    "to spare it will keep more of them.");
    say_sums(advisor, sharded, item);
    say_pictures(advisor, sharded, item);
    say_operands(advisor, sharded, item);
    say_zeros(advisor, sharded, item);
    say_unaliased(advisor, sharded, item);
}
