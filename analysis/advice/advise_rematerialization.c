// jax.checkpoint around each repeated block: the backward pass computes the inside of a block again from its input.
//
//     bytes                 ____                        D  what the blocks keep for the backward pass
//       D grows    __--~~--      --~~--__   D shrinks   K  what is kept instead: one input a block
//              __--   |  turn  |         --__           E  the inside of one block, while it runs: D / blocks
//     today   forward  |        | backward
//     then    K + E    |   K    | K + E
//
// Kept arrays of the forward pass count as a block's when there are several of the same shape, over a stretch of the
// program; a loop's, when they are stacked over its iterations. Arrays of logits and losses are neither and stay.
#include "analysis/advice/advisor.h"
#include "analysis/advice/loop_stacks.h"
#include "analysis/advice/saved_products.h"
#include "analysis/advice/loop_steps.h"

#include <math.h>

#include "analysis/program/op_name.h"

enum { GROUPS_MAX = 256, INPUTS_MAX = 4096, OPS_MAX = 256 };

struct group {  // residuals of one shape
    struct array_shape shape;
    int64_t bytes;  // of one
    uint32_t count;
    uint32_t first_start, last_start;
    bool is_stacked, is_block;
};

struct blocks {
    struct group *groups;
    uint32_t group_count;
    uint32_t *group_of_span;
    double layers;
    int64_t stream_bytes;  // the input of one block
    double kept_bytes;     // the inputs of all
    double saved_bytes;    // of kept_bytes, results inside of blocks, which need not be computed again
    int64_t dropped_bytes;
    uint32_t dropped_count;
    uint32_t largest;  // span
};

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

static bool is_residual(const struct advisor *advisor, const uint8_t *stacks, const struct heap_span *span) {
    uint32_t instruction = advisor->module->buffers[span->buffer].instruction;
    uint32_t leaf = advisor_leaf(advisor, span->buffer);
    if (instruction == HLO_NONE || leaf == HLO_NONE || !advisor->batch.marks[leaf]) return false;
    if (stacks[leaf] & STACK_COPY) return true;
    if (stacks[leaf] == STACK_BACKWARD && loop_steps_is_stack(&advisor->steps, leaf)) return false;
    uint32_t turn = advisor->phases.turn_step;
    return span->start_step < turn && span->end_step > turn && advisor->phases.of_node[instruction] != PHASE_BACKWARD;
}

static uint32_t group_for(struct blocks *blocks, const struct array_shape *shape, bool is_stacked) {
    for (uint32_t i = 0; i < blocks->group_count; i++) {
        if (blocks->groups[i].is_stacked == is_stacked && blocks->groups[i].shape.element_type == shape->element_type &&
            array_same_dimensions(&blocks->groups[i].shape, shape))
            return i;
    }
    if (blocks->group_count == GROUPS_MAX) return HLO_NONE;
    blocks->groups[blocks->group_count] = (struct group){
        .shape = *shape, .first_start = UINT32_MAX, .is_stacked = is_stacked};
    return blocks->group_count++;
}

static bool group_residuals(const struct advisor *advisor, struct blocks *blocks) {
    const struct heap_replay *replay = replay_of(advisor);
    blocks->groups = arena_push_raw(advisor->arena, GROUPS_MAX, sizeof *blocks->groups);
    blocks->group_of_span = arena_push_raw(advisor->arena, replay->span_count, sizeof *blocks->group_of_span);
    const uint8_t *stacks = loop_stacks_find(advisor);
    if (!blocks->groups || !blocks->group_of_span || !stacks)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        blocks->group_of_span[i] = HLO_NONE;
        if (!is_residual(advisor, stacks, span)) continue;
        uint32_t leaf = advisor_leaf(advisor, span->buffer);
        uint32_t g = group_for(blocks, &advisor->graph.leaves[leaf], loop_steps_is_stack(&advisor->steps, leaf));
        blocks->group_of_span[i] = g;
        if (g == HLO_NONE) continue;
        struct group *group = &blocks->groups[g];
        group->count++;
        group->bytes = advisor->module->buffers[span->buffer].size_bytes;
        if (span->start_step < group->first_start) group->first_start = span->start_step;
        if (span->start_step > group->last_start) group->last_start = span->start_step;
    }
    return true;
}

// --- How many blocks ---

// How many weights have the shape of one.
static uint32_t count_alike(const struct advisor *advisor, uint32_t input) {
    const struct program_roles *roles = &advisor->roles;
    const struct array_shape *shape = &advisor->graph.leaves[roles->inputs[input].leaf];
    uint32_t count = 0;
    for (uint32_t k = 0; k < roles->input_count && k < INPUTS_MAX; k++) {
        if (advisor_is_weight(advisor, k))
            count += array_same_dimensions(shape, &advisor->graph.leaves[roles->inputs[k].leaf]);
    }
    return count;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// A block has each of its weights once, or several of one shape: as many blocks as divide how often every shape comes,
// those aside that hold next to nothing.
static double count_layers(const struct advisor *advisor) {
    enum { LITTLE_DIVISOR = 16 };
    double most = 0;
    uint32_t layers = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < advisor->roles.input_count && i < INPUTS_MAX; i++) {
            if (!advisor_is_weight(advisor, i)) continue;
            const struct array_shape *shape = &advisor->graph.leaves[advisor->roles.inputs[i].leaf];
            uint32_t count = shape->rank < 2 ? 0 : count_alike(advisor, i);
            double bytes = count * (double)array_shape_bytes(shape);
            if (count < 2) continue;
            if (pass == 0 && bytes > most) most = bytes;
            if (pass == 1 && bytes * LITTLE_DIVISOR >= most) layers = common_divisor(count, layers);
        }
    }
    return layers ? layers : 1;
}

struct op_count {  // residuals of one shape that one operation of the user's made
    uint32_t group, count;
    uint32_t inside;  // operations in what it calls: fusions of one name differ in that
    enum opcode opcode;
    struct bytes primitive;
};

static uint32_t nodes_inside(const struct program_graph *graph, const struct graph_node *node) {
    uint32_t called = node->called_count ? graph->called[node->first_called] : HLO_NONE;
    return called == HLO_NONE ? 0 : graph->computations[called].node_count;
}

static uint32_t count_op(struct op_count *ops, uint32_t *op_count, struct op_count op) {
    for (uint32_t i = 0; i < *op_count; i++) {
        bool is_same = ops[i].group == op.group && ops[i].opcode == op.opcode && ops[i].inside == op.inside;
        if (is_same && bytes_equal(ops[i].primitive, op.primitive)) return ++ops[i].count;
    }
    if (*op_count == OPS_MAX) return 0;
    op.count = 1;
    ops[(*op_count)++] = op;
    return 1;
}

// A block's input and its inner arrays may have one shape, and all its weights too: the operation that keeps most
// arrays then counts the blocks.
static uint32_t most_of_one_op(const struct advisor *advisor, const struct blocks *blocks) {
    struct op_count ops[OPS_MAX];
    uint32_t op_count = 0, most = 0;
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        uint32_t g = blocks->group_of_span[i];
        if (g == HLO_NONE || !blocks->groups[g].is_block) continue;
        uint32_t instruction = advisor->module->buffers[replay_of(advisor)->spans[i].buffer].instruction;
        const struct graph_node *node = &advisor->graph.nodes[instruction];
        struct op_count op = {.group = g,
                              .inside = nodes_inside(&advisor->graph, node),
                              .opcode = node->opcode,
                              .primitive = op_name_primitive(node->op_name)};
        uint32_t count = count_op(ops, &op_count, op);
        if (count > most) most = count;
    }
    return most;
}

// --- Which residuals are the blocks' ---

// The length of the loop whose stacks hold most; 0 where there are none.
static int64_t loop_length(const struct blocks *blocks) {
    double most = 0;
    int64_t length = 0;
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        const struct group *group = &blocks->groups[g];
        double bytes = (double)group->bytes * group->count;
        if (!group->is_stacked || bytes <= most) continue;
        most = bytes;
        length = group->shape.dimensions[0];
    }
    return length;
}

static void choose_blocks(const struct advisor *advisor, struct blocks *blocks) {
    int64_t length = loop_length(blocks);
    uint32_t turn = advisor->phases.turn_step;
    blocks->layers = length ? (double)length : count_layers(advisor);
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        struct group *group = &blocks->groups[g];
        bool is_spread = (double)(group->last_start - group->first_start) > 0.05 * (double)turn;
        group->is_block = group->is_stacked || (!length && group->count >= 2 && is_spread);
    }
    uint32_t most = length ? 0 : most_of_one_op(advisor, blocks);
    bool is_whole_part = most >= 2 && (uint32_t)blocks->layers % most == 0;  // several weights of one shape a block
    if (is_whole_part) blocks->layers = most;
}

static int64_t bytes_a_layer(const struct group *group) {
    bool is_stack = group->is_stacked && group->shape.dimensions[0] > 0;
    return is_stack ? group->bytes / group->shape.dimensions[0] : group->bytes;
}

// The blocks' input: of what every block keeps, the smallest that is not a mere statistic.
static void choose_stream(struct blocks *blocks) {
    int64_t largest = 0, smallest = 0;
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        const struct group *group = &blocks->groups[g];
        if (group->is_block && bytes_a_layer(group) > largest) largest = bytes_a_layer(group);
    }
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        const struct group *group = &blocks->groups[g];
        int64_t bytes = bytes_a_layer(group);
        bool is_everywhere = group->is_stacked || group->count + 1 >= blocks->layers / 2;
        if (!group->is_block || !is_everywhere || bytes * 128 < largest) continue;
        if (!smallest || bytes < smallest) smallest = bytes;
    }
    blocks->stream_bytes = smallest;
    blocks->kept_bytes = (double)smallest * blocks->layers;
}

// A loop's blocks are its turns: each keeps what the loop carries.
static void choose_carried(const struct advisor *advisor, struct blocks *blocks) {
    double kept = 0, turns = 0;
    for (uint32_t i = 0; loop_length(blocks) && i < advisor->graph.node_count; i++) {
        if (advisor->graph.nodes[i].opcode != OPCODE_WHILE || advisor->phases.of_node[i] != PHASE_FORWARD) continue;
        int64_t length, carried = loop_steps_carried(&advisor->steps, &advisor->batch, i, &length);
        kept += (double)carried * (double)length;
        turns += (double)length;
    }
    if (kept <= 0 || kept > (double)blocks->dropped_bytes) return;
    blocks->kept_bytes = kept;
    blocks->stream_bytes = what_if_bytes(kept / turns);
}

static bool is_dropped(const struct blocks *blocks, uint32_t span) {
    uint32_t g = blocks->group_of_span[span];
    return g != HLO_NONE && blocks->groups[g].is_block;
}

static void sum_dropped(const struct advisor *advisor, struct blocks *blocks) {
    int64_t largest = -1;
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        if (!is_dropped(blocks, i)) continue;
        int64_t bytes = advisor->module->buffers[replay_of(advisor)->spans[i].buffer].size_bytes;
        blocks->dropped_bytes += bytes;
        blocks->dropped_count++;
        if (bytes <= largest) continue;
        largest = bytes;
        blocks->largest = i;
    }
}

int64_t advisor_stream_bytes(const struct advisor *advisor) {
    struct blocks blocks = {0};
    if (!advisor->roles.is_training || !group_residuals(advisor, &blocks)) return 0;
    choose_blocks(advisor, &blocks);
    choose_stream(&blocks);
    return blocks.layers < 2 ? 0 : blocks.stream_bytes;
}

// --- The curve then ---

// Where a loop's backward pass begins: only from there on a block runs again. 0 without loops.
static uint32_t first_step_again(const struct advisor *advisor, const struct blocks *blocks) {
    uint32_t first = UINT32_MAX, home = HLO_NONE;
    const struct heap_replay *replay = replay_of(advisor);
    for (uint32_t i = 0; i < replay->span_count; i++) {
        uint32_t node = advisor->module->buffers[replay->spans[i].buffer].instruction;
        if (is_dropped(blocks, i) && blocks->groups[blocks->group_of_span[i]].is_stacked)
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

static int64_t new_peak(const struct advisor *advisor, const struct blocks *blocks, struct arena *arena, bool *good) {
    const struct heap_replay *replay = replay_of(advisor);
    int64_t *dropped = arena_new(arena, int64_t, (size_t)replay->step_count + 2);
    uint32_t again = first_step_again(advisor, blocks);
    *good = dropped != NULL;
    if (!dropped) return 0;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        if (!is_dropped(blocks, i)) continue;
        const struct heap_span *span = &replay->spans[i];
        int64_t bytes = advisor->module->buffers[span->buffer].size_bytes;
        dropped[span->start_step + 1] += bytes;
        dropped[span->end_step + 1 <= replay->step_count ? span->end_step + 1 : replay->step_count + 1] -= bytes;
    }
    double whole = (double)blocks->dropped_bytes, one = whole / blocks->layers;
    double again_bytes = one - blocks->saved_bytes / blocks->layers;
    double kept = blocks->kept_bytes;
    int64_t live = 0, peak = 0;
    for (uint32_t step = 0; step <= replay->step_count; step++) {
        live += dropped[step];
        double part = whole > 0 ? (double)live / whole : 0;
        bool is_between = again ? step < again : part > 0.999;
        bool is_resting = step > advisor->phases.turn_step && is_at_border((double)live, one) && !dropped[step + 1];
        double inside = is_between || is_resting || part <= 0 || again_bytes < 0 ? 0 : again_bytes;
        double then = (double)(replay->heap_bytes[step] - live) + kept * part +
                      (inside < (double)live ? inside : (double)live);
        if (what_if_bytes(then) > peak) peak = what_if_bytes(then);
    }
    return peak;
}

// What the blocks drop is packed as what they keep of it; what a block holds while it runs again comes on top.
static bool pack_kept(struct advisor *advisor, const struct blocks *blocks, int64_t peak, struct what_if_result *then) {
    int64_t *sizes = advisor_sizes(advisor);
    struct what_if_change change = {.sizes = sizes};
    double kept = blocks->kept_bytes / (double)(blocks->dropped_bytes + 1);
    if (!sizes) return false;
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        uint32_t buffer = replay_of(advisor)->spans[i].buffer;
        if (is_dropped(blocks, i)) sizes[buffer] = what_if_bytes((double)sizes[buffer] * kept);
    }
    if (!advisor_run(advisor, &change, then)) return false;
    int64_t inside = advisor->what_if.indefinite_bytes + peak - then->peak_bytes;
    then->total_bytes += inside;
    then->peak_bytes += inside;
    then->temporary_bytes += inside;
    return true;
}

// --- What is known of it ---

// Every block keeps one at least, but the first or the last.
static bool fits_blocks(const struct blocks *blocks, const struct group *group) {
    return group->is_stacked || group->count + 1 >= blocks->layers;
}

static struct advice_doubt doubt_of_blocks(const struct advisor *advisor, const struct blocks *blocks) {
    bool has_blocks = blocks->dropped_count && blocks->layers >= 2;
    double unseen = advisor->at_peak.other + (has_blocks ? 0 : advisor->at_peak.inside);
    struct advice_doubt doubt = {.population_bytes = unseen,
                                 .may_go_bytes = unseen,
                                 .part = 1,
                                 .help = "Give the number of examples with --batch=N; name the blocks with "
                                         "jax.named_scope, or compile the step with one block in jax.checkpoint."};
    if (!advisor->roles.is_training) return (struct advice_doubt){0};
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        uint32_t g = blocks->group_of_span[i];
        if (g == HLO_NONE) continue;
        const struct group *group = &blocks->groups[g];
        double bytes = (double)advisor->module->buffers[replay_of(advisor)->spans[i].buffer].size_bytes;
        doubt.population_bytes += bytes;
        if (!has_blocks || (!group->is_block && group->count > 1)) doubt.may_go_bytes += bytes;
        if (has_blocks && group->is_block && !fits_blocks(blocks, group)) doubt.may_stay_bytes += bytes;
    }
    return doubt;
}

enum kept { KEEPS_INPUTS, KEEPS_PRODUCTS, KEEPS_ON_HOST };

// What blocks keep with each policy.
static void choose_kept(const struct advisor *advisor, enum kept kept, struct blocks *blocks) {
    choose_carried(advisor, blocks);
    if (kept == KEEPS_ON_HOST) blocks->kept_bytes = 0;
    if (kept != KEEPS_PRODUCTS) return;
    blocks->saved_bytes = saved_products_bytes(advisor, blocks->layers, loop_length(blocks) > 0);
    blocks->kept_bytes += blocks->saved_bytes;
}

static void say_kept(struct advisor *advisor, enum kept kept, const struct blocks *blocks, struct advice_item *item) {
    if (kept == KEEPS_ON_HOST) return;
    advisor_say(advisor, item, "About %.0f blocks; each would keep its input of %s.", blocks->layers,
                size_string(blocks->stream_bytes, advisor->arena));
    if (kept == KEEPS_PRODUCTS)
        advisor_say(advisor, item, "Beside these, %s of products with weights are kept.",
                    size_string(what_if_bytes(blocks->saved_bytes), advisor->arena));
}

static bool advise_on_blocks(struct advisor *advisor, enum kept kept, struct advice_item *item) {
    struct blocks blocks = {0};
    if (!group_residuals(advisor, &blocks)) return false;
    choose_blocks(advisor, &blocks);
    choose_stream(&blocks);
    sum_dropped(advisor, &blocks);
    advisor->doubt = doubt_of_blocks(advisor, &blocks);
    if (!advisor->roles.is_training || blocks.dropped_count == 0 || blocks.layers < 2)
        return advisor_no_use(advisor, item,
                              "No repeated block keeps arrays of its forward pass for the backward pass.");
    bool good;
    choose_kept(advisor, kept, &blocks);
    if (kept == KEEPS_PRODUCTS && blocks.saved_bytes <= 0)
        return advisor_no_use(advisor, item, "No product with weights was found in the repeated blocks.");
    int64_t peak = new_peak(advisor, &blocks, advisor->arena, &good);
    if (!good) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    advisor_say(advisor, item,
                "%u arrays of the forward pass, %s in all, wait for the backward pass; the largest is %s.",
                blocks.dropped_count, size_string(blocks.dropped_bytes, advisor->arena),
                advisor_buffer_text(advisor, replay_of(advisor)->spans[blocks.largest].buffer));
    say_kept(advisor, kept, &blocks, item);
    if (kept != KEEPS_PRODUCTS && peak >= replay_of(advisor)->peak_bytes)
        return advisor_no_use(advisor, item, "What the blocks keep is not what the program's peak is made of.");
    struct what_if_result then;
    if (!pack_kept(advisor, &blocks, peak, &then)) return false;
    item->applies = true;
    advisor->reach.temporary_bytes = blocks.dropped_bytes;
    advisor->reach.added_bytes = what_if_bytes(blocks.saved_bytes);
    advisor_set_totals(advisor, &then, 0.12, 0.12, item);
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
