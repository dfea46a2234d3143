// jax.checkpoint around each repeated block: the backward pass computes the inside of a block again from its input.
//
//     bytes                 ____                        D  what the blocks keep for the backward pass
//       D grows    __--~~--      --~~--__   D shrinks   K  what is kept instead: one input a block
//              __--   |  turn  |         --__           E  the inside of one block, while it runs: most of D / blocks
//     today   forward  |        | backward
//     then    K + E    |   K    | K + E
//
// Blocks come in stages (block_stages.h): what one holds while it runs again is its stage's. Gradients of what blocks
// keep may wait in the backward pass, for products that a schedule with room makes last: then one block's are there.
#include "analysis/advice/block_doubts.h"
#include "analysis/advice/block_stages.h"
#include "analysis/advice/data_kind.h"
#include "analysis/advice/loop_stacks.h"
#include "analysis/advice/saved_products.h"
#include "analysis/advice/say_blocks.h"
#include "analysis/advice/scattered_numbers.h"

#include <math.h>

// Of the arrays inside of a block that runs again, what is held at once, as far as recompiled programs tell
// (docs/advice.md): the others are made and read within one fusion, or not all of them wait until the block's own
// backward pass begins. It may be next to none, or some arrays twice.
#define AT_ONCE 0.75
#define AT_ONCE_MOST 1.1

// Of what a block keeps, the gradients that wait while it runs again, where today those of all blocks wait for the end:
// as they come, what is inside goes.
#define WAITING_OF_LAST 0.3

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

int64_t advisor_stream_bytes(const struct advisor *advisor) {
    struct residuals residuals;
    struct block_stages stages;
    if (!advisor->roles.is_training || !residuals_find(advisor, &residuals)) return 0;
    block_stages_find(advisor, &residuals, &stages);
    return block_stages_stream_bytes(&stages);
}

struct blocks {
    struct residuals residuals;
    struct block_stages stages;
    double at_once;         // of what is inside
    bool is_last_of_all;    // on a GPU: products of weights' gradients are made after all blocks
    double waits_for_last;  // of gradients, while the last block still keeps something; 0: not known
};

static bool find_blocks(const struct advisor *advisor, struct blocks *blocks) {
    blocks->at_once = AT_ONCE;
    blocks->waits_for_last = 0;
    if (!residuals_find(advisor, &blocks->residuals)) return false;
    block_stages_find(advisor, &blocks->residuals, &blocks->stages);
    return true;
}

// --- The curve then ---

// Where a loop's backward pass begins: only from there on a block runs again. 0 without loops.
static uint32_t first_step_again(const struct advisor *advisor, const struct residuals *residuals) {
    uint32_t first = UINT32_MAX, home = HLO_NONE;
    const struct heap_replay *replay = replay_of(advisor);
    for (uint32_t i = 0; i < replay->span_count; i++) {
        uint32_t node = advisor->module->buffers[replay->spans[i].buffer].instruction;
        if (residuals_has(residuals, i) && residuals->groups[residuals->group_of_span[i]].is_stacked)
            home = advisor->graph.nodes[node].computation;
    }
    for (uint32_t i = 0; home != HLO_NONE && i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        uint32_t node = advisor->module->buffers[span->buffer].instruction;
        if (node == HLO_NONE || span->start_step < advisor->phases.turn_step || span->start_step >= first) continue;
        if (advisor->phases.of_node[node] == PHASE_BACKWARD && advisor->graph.nodes[node].computation != home)
            first = span->start_step;
    }
    return first == UINT32_MAX ? 0 : first;
}

// Of all blocks `live` bytes are left: is that a whole number of blocks, so that none is half through its backward
// pass?
static bool is_at_border(double live, double one) {
    const double nearly = 0.1;
    double blocks = one > 0 ? live / one : 0;
    return fabs(blocks - round(blocks)) < nearly;
}

// Gradients of what blocks keep, which wait for the products that make weights' gradients of them: a schedule that has
// room makes those last. A block that runs again is done with before the next one begins.
static bool is_waiting(const struct advisor *advisor, const struct residuals *residuals, uint32_t span) {
    const struct heap_span *one = &replay_of(advisor)->spans[span];
    uint32_t node = advisor->module->buffers[one->buffer].instruction, leaf = advisor_leaf(advisor, one->buffer);
    bool is_later = one->start_step >= advisor->phases.turn_step && node != HLO_NONE && leaf != HLO_NONE;
    if (!is_later || residuals->loop_length || !advisor->batch.marks[leaf]) return false;
    return advisor->phases.of_node[node] == PHASE_BACKWARD &&
           residuals_has_as_large(residuals, &advisor->graph.leaves[leaf]);
}

// Do the gradients that wait do so for longer than a block's backward pass takes, by their bytes and steps?
static bool wait_for_the_end(const struct advisor *advisor, const struct blocks *blocks) {
    const double most = 0.75;
    const struct heap_replay *replay = replay_of(advisor);
    double long_bytes = 0, all_bytes = 0;
    double steps_of_one = (double)(replay->step_count - advisor->phases.turn_step) / fmax(blocks->stages.blocks, 1);
    for (uint32_t i = 0; advisor->is_for_gpu && i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        if (!is_waiting(advisor, &blocks->residuals, i)) continue;
        double steps = span->end_step - span->start_step;
        double bytes = steps * (double)advisor->module->buffers[span->buffer].size_bytes;
        all_bytes += bytes;
        if (steps > 1.5 * steps_of_one) long_bytes += bytes;
    }
    return long_bytes > most * all_bytes;
}

typedef bool is_counted(const struct advisor *advisor, const struct residuals *residuals, uint32_t span);

static bool is_dropped(const struct advisor *advisor, const struct residuals *residuals, uint32_t span) {
    (void)advisor;
    return residuals_has(residuals, span);
}

// Bytes of such arrays that each step begins with, less those it ends with; NULL at the arena's limit.
static int64_t *bytes_by_step(const struct advisor *advisor, const struct residuals *residuals, is_counted *counts) {
    const struct heap_replay *replay = replay_of(advisor);
    int64_t *bytes = arena_new(advisor->arena, int64_t, (size_t)replay->step_count + 2);
    for (uint32_t i = 0; bytes && i < replay->span_count; i++) {
        if (!counts(advisor, residuals, i)) continue;
        const struct heap_span *span = &replay->spans[i];
        int64_t size = advisor->module->buffers[span->buffer].size_bytes;
        bytes[span->start_step + 1] += size;
        bytes[span->end_step + 1 <= replay->step_count ? span->end_step + 1 : replay->step_count + 1] -= size;
    }
    return bytes;
}

// Of all blocks `live` bytes are left: which stage is at work, and what do those before it hold?
struct at_work {
    const struct block_stage *stage;
    double live;         // of the stage
    double kept_before;  // instead of what the stages before it dropped
};

static struct at_work stage_at_work(const struct block_stages *stages, double live) {
    struct at_work work = {0};
    for (uint32_t s = 0; s < stages->count; s++) {
        if (work.stage) work.kept_before += work.stage->kept_bytes;
        work.stage = &stages->stages[s];
        work.live = live;
        if (live <= work.stage->dropped_bytes) break;
        live -= work.stage->dropped_bytes;
    }
    return work;
}

static double inside_of_one(const struct block_stage *stage, double at_once) {
    double inside = (stage->dropped_bytes - stage->saved_bytes) / stage->blocks;
    return inside > 0 ? at_once * inside : 0;
}

// What is held instead of `live` bytes of dropped arrays.
static double held_instead(const struct blocks *blocks, double live, bool is_between, bool may_rest) {
    struct at_work work = stage_at_work(&blocks->stages, live);
    if (!work.stage || live <= 0) return 0;
    double whole = work.stage->dropped_bytes, part = work.live < whole ? work.live / whole : 1;
    bool is_resting = may_rest && is_at_border(work.live, whole / work.stage->blocks);
    double inside = is_between || is_resting ? 0 : inside_of_one(work.stage, blocks->at_once);
    return work.kept_before + work.stage->kept_bytes * part + (inside < live ? inside : live);
}

// Where blocks are alike (pictures shrink): what waits while the last one, whose backward pass comes first, still keeps
// something. No more waits for any other when it runs again.
static double waiting_for_last(const struct advisor *advisor, const struct blocks *blocks, const int64_t *dropped,
                               const int64_t *waiting_change) {
    const struct block_stage *stage = &blocks->stages.stages[0];
    int64_t live = 0, waiting = 0, most = 0;
    if (blocks->stages.count != 1 || advisor->has_convolutions) return 0;
    double of_others = (double)blocks->residuals.dropped_bytes - stage->dropped_bytes / stage->blocks;
    for (uint32_t step = 0; step <= replay_of(advisor)->step_count; step++) {
        live += dropped[step];
        waiting += waiting_change[step];
        if ((double)live > of_others && waiting > most) most = waiting;
    }
    return (double)most;
}

// Of the gradients that wait, what is there besides those of one block: no more than it keeps, nor than waits for the
// last one.
static double waiting_beyond(const struct blocks *blocks, double live, double waiting) {
    struct at_work work = stage_at_work(&blocks->stages, live);
    double one = work.stage ? work.stage->dropped_bytes / work.stage->blocks : 0;
    if (blocks->is_last_of_all) one *= WAITING_OF_LAST;
    if (blocks->waits_for_last > 0 && blocks->waits_for_last < one) one = blocks->waits_for_last;
    return one > 0 && waiting > one ? waiting - one : 0;
}

static int64_t new_peak(const struct advisor *advisor, const struct blocks *blocks, const int64_t *dropped,
                        const int64_t *waiting_change) {
    const struct heap_replay *replay = replay_of(advisor);
    uint32_t again = first_step_again(advisor, &blocks->residuals);
    int64_t live = 0, waiting = 0, peak = 0;
    double stream = (double)block_stages_stream_bytes(&blocks->stages);
    for (uint32_t step = 0; step <= replay->step_count; step++) {
        live += dropped[step];
        waiting += waiting_change[step];
        bool is_between = again ? step < again
                                : (double)live + stream > 0.999 * (double)blocks->residuals.dropped_bytes;
        bool may_rest = step > advisor->phases.turn_step && !dropped[step + 1];
        double then = (double)(replay->heap_bytes[step] - live) +
                      held_instead(blocks, (double)live, is_between, may_rest) -
                      waiting_beyond(blocks, (double)live, (double)waiting);
        if (what_if_bytes(then) > peak) peak = what_if_bytes(then);
    }
    return peak;
}

// At once, at most. More than blocks keep is no wait for their weights, but gradients of gradients, say: then nothing
// waits.
static int64_t settle_waiting(const struct advisor *advisor, const struct residuals *residuals, int64_t *change) {
    uint32_t step_count = replay_of(advisor)->step_count;
    int64_t now = 0, most = 0;
    for (uint32_t step = 0; step <= step_count; step++) {
        now += change[step];
        if (now > most) most = now;
    }
    if (most <= residuals->dropped_bytes) return most;
    memset(change, 0, ((size_t)step_count + 2) * sizeof *change);
    return 0;
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

static int64_t peak_with(const struct advisor *advisor, struct blocks blocks, double at_once, const int64_t *dropped,
                         const int64_t *waiting) {
    blocks.at_once = at_once;
    return new_peak(advisor, &blocks, dropped, waiting);
}

static double largest_inside(const struct blocks *blocks) {
    double largest = 0;
    for (uint32_t s = 0; s < blocks->stages.count; s++)
        largest = fmax(largest, inside_of_one(&blocks->stages.stages[s], blocks->at_once));
    return largest;
}

// From none of what is inside of a block to more than all of it; what else may be off, in parts of the prediction, is
// as far as recompiled programs were (docs/advice.md). Layers over tokens end a little higher more often than lower.
static void set_range(struct advisor *advisor, const struct blocks *blocks, const int64_t *dropped,
                      const int64_t *waiting, struct advice_item *item) {
    bool is_over_time = advisor_is_over_time(advisor);
    int64_t likely = new_peak(advisor, blocks, dropped, waiting);
    int64_t inside = likely - peak_with(advisor, *blocks, 0, dropped, waiting);
    advice_widen(item, 0.038, 0.060);
    item->low_bytes -= inside + kept_in_outputs(advisor);
    item->high_bytes += peak_with(advisor, *blocks, AT_ONCE_MOST, dropped, waiting) - likely;
    if (largest_inside(blocks) > (double)item->predicted_total_bytes / 2)
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

static bool advise_on_blocks(struct advisor *advisor, enum kept kept, struct advice_item *item) {
    struct blocks blocks;
    if (!find_blocks(advisor, &blocks)) return false;
    advisor->doubt = doubt_of_blocks(advisor, &blocks);
    block_doubts_find(advisor, &blocks.residuals);
    if (kept == KEEPS_ON_HOST) doubt_offloading(advisor, &blocks);
    if (!advisor->roles.is_training || blocks.residuals.dropped_count == 0 || blocks.stages.blocks < 2)
        return say_no_use(advisor, "No repeated block keeps arrays of its forward pass for the backward pass.", item);
    choose_kept(advisor, kept, &blocks);
    const int64_t *dropped = bytes_by_step(advisor, &blocks.residuals, is_dropped);
    int64_t *waiting = bytes_by_step(advisor, &blocks.residuals, is_waiting);
    if (!dropped || !waiting) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    int64_t waiting_bytes = settle_waiting(advisor, &blocks.residuals, waiting);
    blocks.is_last_of_all = wait_for_the_end(advisor, &blocks);
    blocks.waits_for_last = waiting_for_last(advisor, &blocks, dropped, waiting);
    int64_t peak = new_peak(advisor, &blocks, dropped, waiting);
    say_dropped_by_blocks(advisor, &blocks.residuals, item);
    say_kept_by_blocks(advisor, kept, &blocks.stages, item);
    if (advisor->is_squeezed && peak >= replay_of(advisor)->peak_bytes) doubt_squeezed(advisor);
    if (kept != KEEPS_PRODUCTS && peak >= replay_of(advisor)->peak_bytes)
        return say_no_use(advisor, "What the blocks keep is not what the program's peak is made of.", item);
    struct what_if_result then;
    if (!pack_kept(advisor, &blocks, peak, &then)) return false;
    int64_t numbers = numbers_at_once(advisor, item);
    what_if_add_temporary(&then, numbers);
    item->applies = true;
    bool keeps_none = kept == KEEPS_PRODUCTS && block_stages_saved_bytes(&blocks.stages) <= 0;
    if (keeps_none) item->how = "As rematerialize: block = jax.checkpoint(block) does the same here.";
    advisor->reach.temporary_bytes = blocks.residuals.dropped_bytes + waiting_bytes + kept_in_outputs(advisor);
    advisor->reach.added_bytes = what_if_bytes(block_stages_saved_bytes(&blocks.stages)) + 2 * numbers;
    advisor_set_totals(advisor, &then, 0, 0, item);
    set_range(advisor, &blocks, dropped, waiting, item);
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
