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
    int64_t dropped_bytes;
    uint32_t dropped_count;
    uint32_t largest;  // span
};

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

static bool is_in_entry(const struct advisor *advisor, uint32_t node) {
    return advisor->graph.nodes[node].computation == advisor->graph.entry;
}

static bool is_residual(const struct advisor *advisor, const struct heap_span *span) {
    uint32_t instruction = advisor->module->buffers[span->buffer].instruction;
    uint32_t leaf = advisor_leaf(advisor, span->buffer);
    if (instruction == HLO_NONE || leaf == HLO_NONE || !advisor->batch.marks[leaf]) return false;
    uint32_t turn = advisor->phases.turn_step;
    return span->start_step < turn && span->end_step > turn && is_in_entry(advisor, instruction) &&
           advisor->phases.of_node[instruction] != PHASE_BACKWARD;
}

static uint32_t group_for(struct blocks *blocks, const struct array_shape *shape) {
    for (uint32_t i = 0; i < blocks->group_count; i++) {
        if (blocks->groups[i].shape.element_type == shape->element_type &&
            array_same_dimensions(&blocks->groups[i].shape, shape))
            return i;
    }
    if (blocks->group_count == GROUPS_MAX) return HLO_NONE;
    blocks->groups[blocks->group_count] = (struct group){.shape = *shape, .first_start = UINT32_MAX};
    return blocks->group_count++;
}

static bool group_residuals(const struct advisor *advisor, struct blocks *blocks) {
    const struct heap_replay *replay = replay_of(advisor);
    blocks->groups = arena_push_raw(advisor->arena, GROUPS_MAX, sizeof *blocks->groups);
    blocks->group_of_span = arena_push_raw(advisor->arena, replay->span_count, sizeof *blocks->group_of_span);
    if (!blocks->groups || !blocks->group_of_span)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        blocks->group_of_span[i] = HLO_NONE;
        if (!is_residual(advisor, span)) continue;
        uint32_t g = group_for(blocks, &advisor->graph.leaves[advisor_leaf(advisor, span->buffer)]);
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

// How often the weights' shapes come, most bytes first: that many blocks.
static double count_layers(const struct advisor *advisor) {
    const struct program_roles *roles = &advisor->roles;
    double best_bytes = 0, layers = 1;
    for (uint32_t i = 0; i < roles->input_count && i < INPUTS_MAX; i++) {
        if (!advisor_is_weight(advisor, i)) continue;
        const struct array_shape *shape = &advisor->graph.leaves[roles->inputs[i].leaf];
        double count = 0;
        for (uint32_t k = 0; k < roles->input_count && k < INPUTS_MAX; k++) {
            if (advisor_is_weight(advisor, k))
                count += array_same_dimensions(shape, &advisor->graph.leaves[roles->inputs[k].leaf]);
        }
        double bytes = count * (double)array_shape_bytes(shape);
        if (shape->rank < 2 || count < 2 || bytes <= best_bytes) continue;
        best_bytes = bytes;
        layers = count;
    }
    return layers;
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

static int64_t loop_length(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool has_loop = false;
    for (uint32_t i = 0; i < graph->node_count && !has_loop; i++)
        has_loop = graph->nodes[i].opcode == OPCODE_WHILE && advisor->phases.of_node[i] == PHASE_FORWARD;
    if (!has_loop) return 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {  // the first stacked weight
        const struct entry_input *in = &advisor->roles.inputs[i];
        const struct array_shape *shape = in->leaf == HLO_NONE ? NULL : &graph->leaves[in->leaf];
        if (in->is_state && shape && shape->rank >= 3 && array_is(shape)) return shape->dimensions[0];
    }
    return 0;
}

static void choose_blocks(const struct advisor *advisor, struct blocks *blocks) {
    int64_t length = loop_length(advisor);
    uint32_t turn = advisor->phases.turn_step;
    blocks->layers = length ? (double)length : count_layers(advisor);
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        struct group *group = &blocks->groups[g];
        bool is_spread = (double)(group->last_start - group->first_start) > 0.05 * (double)turn;
        group->is_stacked = length > 1 && group->shape.rank > 1 && group->shape.dimensions[0] == length;
        group->is_block = group->is_stacked || (!length && group->count >= 2 && is_spread);
    }
    uint32_t most = length ? 0 : most_of_one_op(advisor, blocks);
    bool is_whole_part = most >= 2 && (uint32_t)blocks->layers % most == 0;  // several weights of one shape a block
    if (is_whole_part) blocks->layers = most;
}

static int64_t bytes_a_layer(const struct blocks *blocks, const struct group *group) {
    return group->is_stacked ? what_if_bytes((double)group->bytes / blocks->layers) : group->bytes;
}

// The blocks' input: of what every block keeps, the smallest that is not a mere statistic.
static void choose_stream(struct blocks *blocks) {
    int64_t largest = 0, smallest = 0;
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        const struct group *group = &blocks->groups[g];
        if (group->is_block && bytes_a_layer(blocks, group) > largest) largest = bytes_a_layer(blocks, group);
    }
    for (uint32_t g = 0; g < blocks->group_count; g++) {
        const struct group *group = &blocks->groups[g];
        int64_t bytes = bytes_a_layer(blocks, group);
        bool is_everywhere = group->is_stacked || group->count + 1 >= blocks->layers / 2;
        if (!group->is_block || !is_everywhere || bytes * 128 < largest) continue;
        if (!smallest || bytes < smallest) smallest = bytes;
    }
    blocks->stream_bytes = smallest;
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

static int64_t new_peak(const struct advisor *advisor, const struct blocks *blocks, struct arena *arena, bool *good) {
    const struct heap_replay *replay = replay_of(advisor);
    int64_t *dropped = arena_new(arena, int64_t, (size_t)replay->step_count + 2);
    bool is_stacked = false;
    *good = dropped != NULL;
    if (!dropped) return 0;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        if (!is_dropped(blocks, i)) continue;
        const struct heap_span *span = &replay->spans[i];
        int64_t bytes = advisor->module->buffers[span->buffer].size_bytes;
        is_stacked |= blocks->groups[blocks->group_of_span[i]].is_stacked;
        dropped[span->start_step + 1] += bytes;
        dropped[span->end_step + 1 <= replay->step_count ? span->end_step + 1 : replay->step_count + 1] -= bytes;
    }
    double whole = (double)blocks->dropped_bytes, one = whole / blocks->layers;
    double kept = (double)blocks->stream_bytes * blocks->layers;
    int64_t live = 0, peak = 0;
    for (uint32_t step = 0; step <= replay->step_count; step++) {
        live += dropped[step];
        double part = whole > 0 ? (double)live / whole : 0;
        bool is_between = part > 0.999 && !is_stacked;
        double inside = is_between || part <= 0 ? 0 : one;
        double then = (double)(replay->heap_bytes[step] - live) + kept * part +
                      (inside < (double)live ? inside : (double)live);
        if (what_if_bytes(then) > peak) peak = what_if_bytes(then);
    }
    return peak;
}

static bool advise_on_blocks(struct advisor *advisor, bool is_offloaded, struct advice_item *item) {
    struct blocks blocks = {0};
    if (!group_residuals(advisor, &blocks)) return false;
    choose_blocks(advisor, &blocks);
    choose_stream(&blocks);
    sum_dropped(advisor, &blocks);
    if (!advisor->roles.is_training || blocks.dropped_count == 0 || blocks.layers < 2)
        return advisor_no_use(advisor, item,
                              "No repeated block keeps arrays of its forward pass for the backward pass.");
    bool good;
    if (is_offloaded) blocks.stream_bytes = 0;
    int64_t peak = new_peak(advisor, &blocks, advisor->arena, &good);
    if (!good) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    const struct what_if *now = &advisor->what_if;
    int64_t temporary = what_if_bytes((double)peak * now->packing);
    advisor_say(advisor, item,
                "%u arrays of the forward pass, %s in all, wait for the backward pass; the largest is %s.",
                blocks.dropped_count, size_string(blocks.dropped_bytes, advisor->arena),
                advisor_buffer_text(advisor, replay_of(advisor)->spans[blocks.largest].buffer));
    if (!is_offloaded)
        advisor_say(advisor, item, "About %.0f blocks; each would keep its input of %s.", blocks.layers,
                    size_string(blocks.stream_bytes, advisor->arena));
    if (peak >= replay_of(advisor)->peak_bytes)
        return advisor_no_use(advisor, item, "What the blocks keep is not what the program's peak is made of.");
    item->applies = true;
    struct what_if_result then = {.total_bytes = now->indefinite_bytes + temporary,
                                  .peak_bytes = now->indefinite_bytes + peak,
                                  .temporary_bytes = temporary,
                                  .indefinite_bytes = now->indefinite_bytes};
    advisor_set_totals(advisor, &then, 0.15, 0.15, item);
    return true;
}

bool advise_rematerialization(struct advisor *advisor, struct advice_item *item) {
    item->how = "Wrap the function of one block: block = jax.checkpoint(block); with a scan, the function it scans. "
                "The backward pass computes each block once more: about a third more work.";
    return advise_on_blocks(advisor, false, item);
}

bool advise_offload_activations(struct advisor *advisor, struct advice_item *item) {
    item->how = "Name what a block keeps with jax.ad_checkpoint.checkpoint_name and wrap it in jax.checkpoint(block, "
                "policy=jax.checkpoint_policies.save_and_offload_only_these_names(...)): it waits in host memory.";
    return advise_on_blocks(advisor, true, item);
}
