#include "analysis/advice/say_blocks.h"

static void say_sent(struct advisor *advisor, double on_device_bytes, struct advice_item *item) {
    if (on_device_bytes <= 0) return;
    advisor_say(advisor, item,
                "Without a loop over the blocks their inputs, %s, may lie on the device until they are sent, and again "
                "from when they are fetched.",
                size_string(what_if_bytes(on_device_bytes), advisor->arena));
}

void say_kept_by_blocks(struct advisor *advisor, enum kept kept, const struct block_stages *stages,
                        struct advice_item *item) {
    if (kept == KEEPS_ON_HOST) return say_sent(advisor, block_stages_kept_bytes(stages), item);
    const char *stream = size_string(block_stages_input_bytes(stages), advisor->arena);
    if (stages->are_scoped)
        advisor_say(advisor, item,
                    "%.0f blocks by the names of modules, each with what it keeps itself; the largest would keep its "
                    "input of %s.",
                    stages->blocks, stream);
    else if (stages->count == 1)
        advisor_say(advisor, item, "About %.0f blocks; each would keep its input of %s.", stages->blocks, stream);
    else
        advisor_say(advisor, item, "About %.0f blocks in %u stages; each would keep its input, %s in the largest.",
                    stages->blocks, stages->count, stream);
    if (kept == KEEPS_PRODUCTS && block_stages_saved_bytes(stages) > 0)
        advisor_say(advisor, item, "Beside these, %s of products with weights are kept.",
                    size_string(what_if_bytes(block_stages_saved_bytes(stages)), advisor->arena));
    else if (kept == KEEPS_PRODUCTS)
        advisor_say(advisor, item,
                    "No product with weights was found in the blocks, which the policy would keep: all runs again, as "
                    "without it.");
}

void say_dropped_by_blocks(struct advisor *advisor, const struct residuals *residuals, struct advice_item *item) {
    advisor_say(advisor, item,
                residuals->dropped_count == 1
                    ? "%u array of the forward pass, %s, waits for the backward pass: it is %s."
                    : "%u arrays of the forward pass, %s in all, wait for the backward pass; the largest is %s.",
                residuals->dropped_count, size_string(residuals->dropped_bytes, advisor->arena),
                advisor_buffer_text(advisor, advisor->what_if.replay.spans[residuals->largest].buffer));
}

void say_numbers_of_blocks(struct advisor *advisor, int64_t bytes, struct advice_item *item) {
    advisor_say(
        advisor, item,
        "Blocks write rows where x.at[rows].set(y) puts them, which takes %s of numbers beside them, of all blocks "
        "at once where they run again: unique_indices=True, where no row is written twice, or adding to zeros "
        "takes none.",
        size_string(bytes, advisor->arena));
}
