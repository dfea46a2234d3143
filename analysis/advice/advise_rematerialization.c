// jax.checkpoint around each repeated block: the backward pass computes the inside of a block again from its input.
//
// What the blocks are: block_stages.h; what is held then: blocks_again.h. Policies keep some of what is inside, or send
// inputs to the host.
#include "analysis/advice/block_doubts.h"
#include "analysis/advice/blocks_again.h"
#include "analysis/advice/data_kind.h"
#include "analysis/advice/loop_stacks.h"
#include "analysis/advice/saved_products.h"
#include "analysis/advice/say_blocks.h"
#include "analysis/advice/scattered_numbers.h"
#include "analysis/advice/scoped_stages.h"

#include <math.h>

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

static void find_stages(const struct advisor *advisor, const struct residuals *residuals, struct block_stages *stages) {
    block_stages_find(advisor, residuals, stages);
    scoped_stages_find(advisor, residuals, stages);
}

int64_t advisor_stream_bytes(const struct advisor *advisor) {
    struct residuals residuals;
    struct block_stages stages;
    if (!advisor->roles.is_training || !residuals_find(advisor, &residuals)) return 0;
    find_stages(advisor, &residuals, &stages);
    return block_stages_stream_bytes(&stages);
}

static bool find_blocks(const struct advisor *advisor, struct blocks *blocks) {
    *blocks = (struct blocks){.at_once = BLOCKS_AT_ONCE};
    if (!residuals_find(advisor, &blocks->residuals)) return false;
    find_stages(advisor, &blocks->residuals, &blocks->stages);
    return true;
}

// What blocks keep in a GPU's outputs, where no replay of the heap sees it: others may lie there then.
static bool is_kept_in_output(const struct advisor *advisor, uint32_t buffer) {
    uint32_t leaf = advisor_leaf(advisor, buffer);
    return leaf != HLO_NONE && advisor->batch.marks[leaf] &&
           advisor->phases.of_node[advisor->graph.node_of_leaf[leaf]] == PHASE_FORWARD;
}

static int64_t kept_in_outputs(const struct advisor *advisor) {
    double bytes = 0;
    for (uint32_t i = replay_of(advisor)->span_count; i < advisor_temporary_count(advisor); i++) {
        uint32_t buffer = advisor_temporary(advisor, i);
        if (is_kept_in_output(advisor, buffer)) bytes += (double)advisor->module->buffers[buffer].size_bytes;
    }
    return what_if_bytes(bytes);
}

// What lies in outputs today makes room there for what lies on the heap. What is begun for all loops at once stays.
static bool pack_without_guests(struct advisor *advisor, double kept, int64_t *sizes, struct what_if_result *then) {
    struct what_if_change change = {.sizes = sizes};
    const uint8_t *stacks = kept_in_outputs(advisor) ? loop_stacks_find(advisor) : NULL;
    if (!stacks) return true;
    for (uint32_t i = replay_of(advisor)->span_count; i < advisor_temporary_count(advisor); i++) {
        uint32_t buffer = advisor_temporary(advisor, i);
        bool goes = is_kept_in_output(advisor, buffer) && !(stacks[advisor_leaf(advisor, buffer)] & STACK_TOGETHER);
        if (goes) sizes[buffer] = what_if_bytes((double)sizes[buffer] * kept);
    }
    return advisor_run(advisor, &change, then);
}

// What the blocks drop is packed as what they keep of it; what a block holds while it runs again comes on top.
static bool pack_kept(struct advisor *advisor, const struct blocks *blocks, int64_t peak, struct what_if_result *then) {
    int64_t *sizes = advisor_sizes(advisor);
    struct what_if_change change = {.sizes = sizes};
    double kept = block_stages_kept_bytes(&blocks->stages) / (double)(blocks->residuals.dropped_bytes + 1);
    if (!sizes) return false;
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        uint32_t buffer = replay_of(advisor)->spans[i].buffer;
        if (residuals_has(&blocks->residuals, i)) sizes[buffer] = what_if_bytes((double)sizes[buffer] * kept);
    }
    if (!advisor_run(advisor, &change, then)) return false;
    int64_t inside = advisor->what_if.indefinite_bytes + peak - then->peak_bytes;
    if (!pack_without_guests(advisor, kept, sizes, then)) return false;
    what_if_add_temporary(then, inside);
    return true;
}

// --- What is known of it ---

// Every block keeps one at least, but the first or the last: how many do not?
static double missing_blocks(const struct blocks *blocks, uint32_t g) {
    const struct residual_group *group = &blocks->residuals.groups[g];
    if (!group->is_block || group->is_stacked) return 0;  // of no stage perhaps
    if (group->is_joined || blocks->residuals.unequal_blocks) return 0;
    double missing = blocks->stages.stages[blocks->stages.stage_of_group[g]].blocks - (group->count + 1);
    return missing > 0 ? missing : 0;
}

// May what no block keeps on the heap lie in a GPU's outputs?
static bool is_missing_in_outputs(const struct advisor *advisor, const struct blocks *blocks) {
    double bytes = 0;
    for (uint32_t g = 0; g < blocks->residuals.group_count; g++)
        bytes += missing_blocks(blocks, g) * (double)residual_bytes_unrounded(&blocks->residuals.groups[g]);
    return bytes <= (double)kept_in_outputs(advisor);
}

static void doubt_residual(const struct blocks *blocks, uint32_t g, double bytes, bool are_in_outputs,
                           struct advice_doubt *doubt) {
    const struct residual_group *group = &blocks->residuals.groups[g];
    bool has_blocks = blocks->residuals.dropped_count && blocks->stages.blocks >= 2;
    doubt->population_bytes += bytes;
    if (!has_blocks || (!group->is_block && group->count > 1)) doubt->may_go_bytes += bytes;
    if (has_blocks && !are_in_outputs && missing_blocks(blocks, g) > 0) doubt->may_stay_bytes += bytes;
}

static struct advice_doubt doubt_of_blocks(const struct advisor *advisor, const struct blocks *blocks) {
    bool has_blocks = blocks->residuals.dropped_count && blocks->stages.blocks >= 2;
    double unseen = advisor->at_peak.other + (has_blocks ? 0 : advisor->at_peak.inside);
    struct advice_doubt doubt = {.population_bytes = unseen,
                                 .may_go_bytes = unseen,
                                 .part = 1,
                                 .help = advisor_help(advisor, "Name the blocks with jax.named_scope, or compile the "
                                                               "step with one block in jax.checkpoint.")};
    if (!advisor->roles.is_training) return (struct advice_doubt){0};
    bool are_in_outputs = has_blocks && is_missing_in_outputs(advisor, blocks);
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        uint32_t g = blocks->residuals.group_of_span[i];
        double bytes = (double)advisor->module->buffers[replay_of(advisor)->spans[i].buffer].size_bytes;
        if (g != HLO_NONE) doubt_residual(blocks, g, bytes, are_in_outputs, &doubt);
    }
    return doubt;
}

// Are the turns of one loop the blocks? Such a loop sends one turn's input before the next. Without one the compiler
// may send all of them late and fetch them early: compiled programs had as much on the device as if nothing were sent,
// and at worst as much again.
static bool are_turns(const struct blocks *blocks) {
    return blocks->residuals.loop_length > 0 && !blocks->stages.stages[0].turns;
}

// What blocks keep with each policy; of products, each stage its part.
static void choose_kept(const struct advisor *advisor, enum kept kept, struct blocks *blocks) {
    struct block_stages *stages = &blocks->stages;
    int64_t turns = are_turns(blocks) ? blocks->residuals.loop_length : 0;
    double saved = kept == KEEPS_PRODUCTS ? saved_products_bytes(advisor, stages, turns) : 0;
    for (uint32_t s = 0; s < stages->count; s++) {
        struct block_stage *stage = &stages->stages[s];
        if (kept == KEEPS_ON_HOST && are_turns(blocks)) stage->kept_bytes = 0;
        stage->saved_bytes = saved * (stage->dropped_bytes / ((double)blocks->residuals.dropped_bytes + 1));
        stage->kept_bytes += stage->saved_bytes;
    }
}

static int64_t peak_with(const struct advisor *advisor, struct blocks blocks, double at_once) {
    blocks.at_once = at_once;
    return blocks_again_peak(advisor, &blocks);
}

static double largest_inside(const struct blocks *blocks) {
    double largest = 0;
    for (uint32_t s = 0; s < blocks->stages.count; s++)
        largest = fmax(largest, blocks_again_inside(&blocks->stages.stages[s], blocks->at_once));
    return largest;
}

// From none of what is inside of a block to more than all of it; what else may be off, in parts of the prediction, is
// as far as recompiled programs were (docs/advice.md). Layers over tokens end a little higher more often than lower.
static void set_range(struct advisor *advisor, const struct blocks *blocks, struct advice_item *item) {
    bool is_over_time = advisor_is_over_time(advisor);
    int64_t likely = blocks_again_peak(advisor, blocks);
    int64_t inside = likely - peak_with(advisor, *blocks, 0);
    advice_widen(item, 0.038, 0.060);
    item->low_bytes -= inside + kept_in_outputs(advisor);
    item->high_bytes += peak_with(advisor, *blocks, BLOCKS_AT_ONCE_MOST) - likely;
    if (!blocks->stages.are_scoped && largest_inside(blocks) > (double)item->predicted_total_bytes / 2)
        advisor->doubt.may_go_bytes = advisor->doubt.population_bytes;
    bool is_wide = (double)(item->high_bytes - item->low_bytes) > 0.1 * (double)item->predicted_total_bytes;
    if (is_wide || advisor->is_for_gpu) advice_widen(item, advisor->is_for_gpu ? 0.24 : 0.08, 0.22);
    if (advisor->has_convolutions)
        advice_widen(item, 0.32, 0.36);
    else if (is_over_time || !data_kind_of(advisor).has_tokens)
        advice_widen(item, 0.24, is_over_time ? 0.35 : 0.25);
}

// What is sent to the host may be on the device or not, and once more when it is fetched.
static void widen_by_sent(const struct blocks *blocks, struct advice_item *item) {
    int64_t sent = what_if_bytes(block_stages_kept_bytes(&blocks->stages));
    item->low_bytes -= sent;
    item->high_bytes += sent;
}

static void doubt_offloading(struct advisor *advisor, const struct blocks *blocks) {
    if (!advisor->has_convolutions || are_turns(blocks)) return;
    advisor_doubt_all(advisor,
                      "Inputs of blocks of convolutions that wait on the host were compiled to anything from half of "
                      "today's total to more than that. Compile it so to know.");
}

// What the compiler squeezes to make the program fit lies otherwise than what blocks keep by themselves.
static void doubt_squeezed(struct advisor *advisor) {
    advisor_doubt_all(advisor,
                      "Compile it so to know: the compiler has squeezed this program to make it fit, and what blocks "
                      "would keep does not show.");
}

// What a user checkpoints where this room sees no use saves a little at times.
static bool say_no_use(const struct advisor *advisor, const char *why, struct advice_item *item) {
    const double a_little = 0.05;
    advisor_no_use(advisor, item, why);
    if (advisor->roles.is_training) advice_widen(item, a_little, 0);
    return true;
}

// Where blocks run again, XLA:GPU begins with the numbers that all of them scatter at once, here and there twice.
static int64_t numbers_at_once(struct advisor *advisor, struct advice_item *item) {
    const double much = 0.01;
    int64_t bytes = advisor->is_for_gpu ? scattered_numbers_bytes(advisor) : 0;
    if ((double)bytes <= much * (double)advisor->what_if.total_bytes) return 0;
    say_numbers_of_blocks(advisor, bytes, item);
    return bytes;
}

// What needs nothing of a block may be begun for all of them at once where they run again, as it is today: of three
// compiled programs one had all masks and copies then, two had one block's.
static int64_t begun_at_once_again(const struct advisor *advisor, const struct blocks *blocks) {
    const double of_copies = 0.5, of_masks = 0.25;
    if (!advisor->is_for_gpu) return 0;
    return what_if_bytes(of_copies * residuals_begun_at_once(advisor, &blocks->residuals, true) +
                         of_masks * residuals_begun_at_once(advisor, &blocks->residuals, false));
}

static void widen_by_begun(struct advisor *advisor, const struct blocks *blocks, struct advice_item *item) {
    const double much = 0.01, some = 0.04;
    int64_t likely = begun_at_once_again(advisor, blocks);
    if ((double)likely <= much * (double)advisor->what_if.total_bytes) return;
    int64_t all = what_if_bytes(residuals_begun_at_once(advisor, &blocks->residuals, true) +
                                residuals_begun_at_once(advisor, &blocks->residuals, false));
    int64_t least = item->predicted_total_bytes - likely, most = least + all;
    if (item->low_bytes > least) item->low_bytes = least;
    if (item->high_bytes < most) item->high_bytes = most;
    advice_widen(item, some, some);
    advisor_say(
        advisor, item,
        "Masks, or copies of one array, for all blocks, %s, are made at once today. Where blocks run again that "
        "may stay so, or each block may make its own: the prediction counts %s of them.",
        size_string(all, advisor->arena), size_string(likely, advisor->arena));
}

struct two_ways {  // to make blocks of a loop's turn, by the peak: of its function, or of each layer in it
    int64_t of_turn, of_layer;
};

// Both the same where a turn is one layer, or nobody would wrap each, since their inputs are more.
static struct two_ways peaks_of(const struct advisor *advisor, const struct blocks *blocks) {
    struct two_ways peaks = {blocks_again_peak(advisor, blocks), 0};
    struct blocks by_layer = *blocks;
    bool has_layers = block_stages_by_layer(&blocks->stages, &by_layer.stages);
    peaks.of_layer = has_layers ? blocks_again_peak(advisor, &by_layer) : peaks.of_turn;
    if (peaks.of_layer > peaks.of_turn) peaks.of_layer = peaks.of_turn;
    return peaks;
}

// Nearer to that of layers, which saves more and is done more often.
static int64_t between(struct two_ways peaks) {
    return peaks.of_layer + (peaks.of_turn - peaks.of_layer) / 3;
}

static void widen_by_ways(struct advisor *advisor, const struct blocks *blocks, struct two_ways peaks,
                          struct advice_item *item) {
    const double little = 0.03;
    int64_t below = between(peaks) - peaks.of_layer, above = peaks.of_turn - between(peaks);
    if ((double)(below + above) <= little * (double)item->predicted_total_bytes) return;
    item->low_bytes -= below;
    item->high_bytes += above;
    advisor_say(
        advisor, item,
        "A turn of the loop has %u layers. With jax.checkpoint around each layer about %s are left, around the whole "
        "function of a turn about %s: the prediction lies between.",
        blocks->stages.stages[0].layers, size_string(item->predicted_total_bytes - below, advisor->arena),
        size_string(item->predicted_total_bytes + above, advisor->arena));
}

static bool advise_on_blocks(struct advisor *advisor, enum kept kept, struct advice_item *item) {
    struct blocks blocks;
    if (!find_blocks(advisor, &blocks)) return false;
    advisor->doubt = doubt_of_blocks(advisor, &blocks);
    block_doubts_find(advisor, &blocks.residuals, &blocks.stages);
    if (kept == KEEPS_ON_HOST) doubt_offloading(advisor, &blocks);
    if (!advisor->roles.is_training || blocks.residuals.dropped_count == 0 || blocks.stages.blocks < 2)
        return say_no_use(advisor, "No repeated block keeps arrays of its forward pass for the backward pass.", item);
    choose_kept(advisor, kept, &blocks);
    if (!blocks_again_find(advisor, &blocks))
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    struct two_ways peaks = peaks_of(advisor, &blocks);
    int64_t peak = between(peaks);
    say_dropped_by_blocks(advisor, &blocks.residuals, item);
    say_kept_by_blocks(advisor, kept, &blocks.stages, item);
    if (advisor->is_squeezed && peak >= replay_of(advisor)->peak_bytes) doubt_squeezed(advisor);
    if (kept != KEEPS_PRODUCTS && peak >= replay_of(advisor)->peak_bytes)
        return say_no_use(advisor, "What the blocks keep is not what the program's peak is made of.", item);
    struct what_if_result then;
    if (!pack_kept(advisor, &blocks, peak, &then)) return false;
    int64_t numbers = numbers_at_once(advisor, item);
    what_if_add_temporary(&then, numbers + begun_at_once_again(advisor, &blocks));
    item->applies = true;
    bool keeps_none = kept == KEEPS_PRODUCTS && block_stages_saved_bytes(&blocks.stages) <= 0;
    if (keeps_none) item->how = "As rematerialize: block = jax.checkpoint(block) does the same here.";
    advisor->reach.temporary_bytes = blocks.residuals.dropped_bytes + blocks.waiting_bytes + kept_in_outputs(advisor);
    advisor->reach.added_bytes = what_if_bytes(block_stages_saved_bytes(&blocks.stages)) + 2 * numbers;
    advisor_set_totals(advisor, &then, 0, 0, item);
    set_range(advisor, &blocks, item);
    widen_by_ways(advisor, &blocks, peaks, item);
    widen_by_begun(advisor, &blocks, item);
    item->low_bytes -= numbers;
    item->high_bytes += numbers;
    if (kept == KEEPS_ON_HOST) widen_by_sent(&blocks, item);
    return true;
}

bool advise_rematerialization(struct advisor *advisor, struct advice_item *item) {
    item->how =
        "Wrap the function of one block: block = jax.checkpoint(block); with a scan, the function it scans. Around "
        "the whole network it saves next to nothing. "
        "The backward pass computes each block once more: about a third more work.";
    return advise_on_blocks(advisor, KEEPS_INPUTS, item);
}

bool advise_rematerialization_but_products(struct advisor *advisor, struct advice_item *item) {
    item->how =
        "Wrap the function of one block: block = jax.checkpoint(block, "
        "policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable). The backward pass computes again what "
        "is cheap, and attention's scores; products with weights are kept. dots_saveable keeps the scores too.";
    return advise_on_blocks(advisor, KEEPS_PRODUCTS, item);
}

bool advise_offload_activations(struct advisor *advisor, struct advice_item *item) {
    item->how = "Name what a block keeps with jax.ad_checkpoint.checkpoint_name and wrap it in jax.checkpoint(block, "
                "policy=jax.checkpoint_policies.save_and_offload_only_these_names(...)): it waits in host memory.";
    return advise_on_blocks(advisor, KEEPS_ON_HOST, item);
}
