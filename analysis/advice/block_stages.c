#include "analysis/advice/block_stages.h"

#include "analysis/advice/layer_count.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/advice/scoped_blocks.h"
#include "analysis/advice/source_line.h"
#include "analysis/program/op_name.h"

enum { OPS_MAX = 256 };

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

// --- By what operations keep ---

struct op_count {  // residuals of one shape that one operation of the user's made
    uint32_t group, count;
    uint32_t inside;  // operations in what it calls: fusions of one name differ in that
    int32_t line;     // of the source: 0 where it does not say
    enum opcode opcode;
    struct bytes primitive;
};

static uint32_t nodes_inside(const struct program_graph *graph, const struct graph_node *node) {
    uint32_t called = node->called_count ? graph->called[node->first_called] : HLO_NONE;
    return called == HLO_NONE ? 0 : graph->computations[called].node_count;
}

static void count_op(struct op_count *ops, uint32_t *op_count, struct op_count op) {
    for (uint32_t i = 0; i < *op_count; i++) {
        bool is_same = ops[i].group == op.group && ops[i].opcode == op.opcode && ops[i].inside == op.inside &&
                       ops[i].line == op.line;
        if (!is_same || !bytes_equal(ops[i].primitive, op.primitive)) continue;
        ops[i].count++;
        return;
    }
    if (*op_count == OPS_MAX) return;
    op.count = 1;
    ops[(*op_count)++] = op;
}

// Residuals of the blocks by the operation that made them; how many kinds there are.
static uint32_t count_ops(const struct advisor *advisor, const struct residuals *residuals,
                          struct op_count ops[OPS_MAX]) {
    uint32_t op_count = 0;
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        uint32_t g = residuals->group_of_span[i];
        if (!residuals_has(residuals, i)) continue;
        uint32_t instruction = advisor->module->buffers[replay_of(advisor)->spans[i].buffer].instruction;
        const struct graph_node *node = &advisor->graph.nodes[instruction];
        count_op(ops, &op_count,
                 (struct op_count){.group = g,
                                   .inside = nodes_inside(&advisor->graph, node),
                                   .line = source_line_of(advisor->module, instruction),
                                   .opcode = node->opcode,
                                   .primitive = op_name_primitive(node->op_name)});
    }
    return op_count;
}

// What one line makes in all stages, whose blocks are of several shapes.
static uint32_t of_line(const struct op_count *ops, uint32_t op_count, const struct op_count *op) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < op_count; i++) {
        bool is_same = ops[i].line == op->line && ops[i].opcode == op->opcode && ops[i].inside == op->inside &&
                       bytes_equal(ops[i].primitive, op->primitive);
        count += is_same ? ops[i].count : 0;
    }
    return count;
}

// A block's input and its inner arrays may have one shape, and all its weights too: the operation that keeps most
// arrays then counts the blocks.
static uint32_t most_of_one_op(const struct op_count *ops, uint32_t op_count) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < op_count; i++) {
        uint32_t count = ops[i].line ? of_line(ops, op_count, &ops[i]) : ops[i].count;
        if (count > most) most = count;
    }
    return most;
}

struct kept_ops {  // of one stage, or of all
    const struct op_count *ops;
    uint32_t count;
    const uint8_t *stage_of_group;
    uint8_t stage;
};

static bool has_op(const struct kept_ops *kept, uint32_t i) {
    return kept->stage_of_group[kept->ops[i].group] == kept->stage;
}

// Bytes of all operations that keep an array so often.
static double bytes_kept(const struct residuals *residuals, const struct kept_ops *kept, uint32_t often) {
    double bytes = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        if (has_op(kept, i) && kept->ops[i].count == often)
            bytes += (double)residuals->groups[kept->ops[i].group].bytes * often;
    }
    return bytes;
}

// The most that operations hold together which keep an array equally often, two at least.
static double most_kept(const struct residuals *residuals, const struct kept_ops *kept) {
    double most = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        if (!has_op(kept, i) || kept->ops[i].count < 2) continue;
        double bytes = bytes_kept(residuals, kept, kept->ops[i].count);
        if (bytes > most) most = bytes;
    }
    return most;
}

// How often operations keep arrays that hold most, or half as much as that: the rarest of them, for a block may have
// two convolutions and one sum. 0 where none keeps two.
static uint32_t count_of_most_bytes(const struct residuals *residuals, const struct kept_ops *kept) {
    double much = most_kept(residuals, kept) / 2;
    uint32_t often = 0;
    for (uint32_t i = 0; i < kept->count; i++) {
        uint32_t count = kept->ops[i].count;
        if (!has_op(kept, i) || count < 2 || (often && count >= often)) continue;
        if (bytes_kept(residuals, kept, count) > much) often = count;
    }
    return often;
}

// --- Stages ---

// The group that holds most of those without a stage; HLO_NONE: all have one.
static uint32_t largest_without(const struct residuals *residuals, const uint8_t *stage_of_group) {
    uint32_t largest = HLO_NONE;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        if (!group->is_block || group->is_joined || stage_of_group[g] != BLOCK_STAGES_MAX) continue;
        if (largest == HLO_NONE ||
            residual_group_bytes(&residuals->groups[g]) > residual_group_bytes(&residuals->groups[largest]))
            largest = g;
    }
    return largest;
}

// The stage in whose time a group's middle lies; BLOCK_STAGES_MAX: none.
static uint8_t stage_around(const struct block_stages *stages, const struct residual_group *group) {
    uint32_t middle = group->first_start + (group->last_start - group->first_start) / 2;
    for (uint32_t s = 0; s < stages->count; s++) {
        if (middle >= stages->stages[s].first_start && middle <= stages->stages[s].last_start) return (uint8_t)s;
    }
    return BLOCK_STAGES_MAX;
}

// The first stage that is not over when a group begins, or the last.
static uint8_t stage_from(const struct block_stages *stages, const struct residual_group *group) {
    uint8_t s = 0;
    while (s + 1u < stages->count && stages->stages[s].last_start < group->first_start) s++;
    return s;
}

// After the stages are in order.
static void join_first(const struct residuals *residuals, struct block_stages *stages) {
    for (uint32_t g = 0; g < residuals->group_count && stages->count; g++) {
        if (residuals->groups[g].is_joined) stages->stage_of_group[g] = stage_from(stages, &residuals->groups[g]);
    }
}

// The largest groups make stages, what is made meanwhile joins them.
static void put_into_stages(const struct residuals *residuals, struct block_stages *stages) {
    uint32_t g;
    while ((g = largest_without(residuals, stages->stage_of_group)) != HLO_NONE) {
        const struct residual_group *group = &residuals->groups[g];
        uint8_t stage = stage_around(stages, group);
        if (stage == BLOCK_STAGES_MAX && stages->count < BLOCK_STAGES_MAX) {
            stage = (uint8_t)stages->count;
            stages->stages[stages->count++] = (struct block_stage){.first_start = group->first_start,
                                                                   .last_start = group->last_start};
        }
        stages->stage_of_group[g] = stage == BLOCK_STAGES_MAX ? 0 : stage;
    }
}

static void swap_stages(struct block_stages *stages, uint8_t a, uint8_t b) {
    struct block_stage one = stages->stages[a];
    stages->stages[a] = stages->stages[b];
    stages->stages[b] = one;
    for (uint32_t g = 0; g < RESIDUAL_GROUPS_MAX; g++) {
        uint8_t stage = stages->stage_of_group[g];
        stages->stage_of_group[g] = stage == a ? b : stage == b ? a : stage;
    }
}

static void put_in_order(struct block_stages *stages) {
    for (uint32_t i = 1; i < stages->count; i++) {
        for (uint32_t k = i; k > 0 && stages->stages[k].first_start < stages->stages[k - 1].first_start; k--)
            swap_stages(stages, (uint8_t)k, (uint8_t)(k - 1));
    }
}

// Blocks that are turns of loops, and blocks beside them.
static bool has_both_kinds(const struct residuals *residuals) {
    bool has[2] = {false, false};
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        if (residuals->groups[g].is_block) has[residuals->groups[g].is_stacked] = true;
    }
    return has[false] && has[true];
}

// One stage of all, or one of each kind.
static void put_by_kind(const struct residuals *residuals, bool is_apart, struct block_stages *stages) {
    stages->count = is_apart ? 2 : 1;
    for (uint32_t s = 0; s < stages->count; s++) stages->stages[s] = (struct block_stage){.first_start = UINT32_MAX};
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        if (!group->is_block) continue;
        uint8_t s = is_apart && group->is_stacked;
        struct block_stage *stage = &stages->stages[s];
        stages->stage_of_group[g] = s;
        if (group->first_start < stage->first_start) stage->first_start = group->first_start;
        if (group->last_start > stage->last_start) stage->last_start = group->last_start;
    }
    put_in_order(stages);
}

// Does one stage have nearly all? What others have is made at the ends: of embeddings, of heads.
static bool is_nearly_one(const struct residuals *residuals, const struct block_stages *stages) {
    const double nearly_all = 0.8;
    double bytes[BLOCK_STAGES_MAX] = {0}, most = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        uint8_t s = stages->stage_of_group[g];
        if (s == BLOCK_STAGES_MAX) continue;
        bytes[s] += residual_group_bytes(&residuals->groups[g]);
        if (bytes[s] > most) most = bytes[s];
    }
    return most >= nearly_all * (double)residuals->dropped_bytes;
}

// --- What a stage keeps ---

static bool is_of_stage(const struct residuals *residuals, const struct block_stages *stages, uint32_t g, uint8_t s) {
    return residuals->groups[g].is_block && stages->stage_of_group[g] == s;
}

static int64_t largest_of_block(const struct residuals *residuals, const struct block_stages *stages, uint8_t s) {
    int64_t largest = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        int64_t bytes = residual_bytes_of_block(&residuals->groups[g]);
        if (is_of_stage(residuals, stages, g, s) && bytes > largest) largest = bytes;
    }
    return largest;
}

// The blocks' input: of what every block keeps, the smallest that is not a mere statistic.
static void choose_stream(const struct residuals *residuals, struct block_stages *stages, uint8_t s) {
    enum { STATISTIC_DIVISOR = 128 };
    struct block_stage *stage = &stages->stages[s];
    int64_t largest = largest_of_block(residuals, stages, s), smallest = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        int64_t bytes = residual_bytes_unrounded(group);
        bool is_everywhere = !group->needs_no_block && (group->is_stacked || group->count + 1 >= stage->blocks / 2);
        if (!is_of_stage(residuals, stages, g, s)) continue;
        stage->dropped_bytes += residual_group_bytes(group);
        if (is_everywhere && bytes >= largest / STATISTIC_DIVISOR && (!smallest || bytes < smallest)) smallest = bytes;
    }
    stage->stream_bytes = smallest;
    stage->kept_bytes = (double)smallest * stage->blocks;
}

// A loop's blocks are its turns: each keeps what the loop carries.
static void choose_carried(const struct advisor *advisor, struct block_stage *stage) {
    double kept = 0, turns = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (advisor->graph.nodes[i].opcode != OPCODE_WHILE || advisor->phases.of_node[i] != PHASE_FORWARD) continue;
        int64_t length, carried = loop_steps_carried(&advisor->steps, &advisor->batch, i, &length);
        kept += (double)carried * (double)length;
        turns += (double)length;
    }
    if (kept <= 0 || kept > stage->dropped_bytes) return;
    stage->kept_bytes = kept;
    stage->stream_bytes = what_if_bytes(kept / turns);
}

uint32_t block_stages_loops_over_time(const struct advisor *advisor, const struct residuals *residuals) {
    uint32_t loops = 0;
    if (!residuals->loop_length || !advisor_is_over_time(advisor)) return 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        int64_t length = 0;
        if (advisor->graph.nodes[i].opcode != OPCODE_WHILE || advisor->phases.of_node[i] != PHASE_FORWARD) continue;
        loops += loop_steps_carried(&advisor->steps, &advisor->batch, i, &length) > 0 &&
                 length == residuals->loop_length;
    }
    return loops;
}

// Layers that have a loop over time each are the blocks: a layer runs again with all its turns, from all their inputs.
static void choose_layers(uint32_t layers, int64_t turns, struct block_stage *stage) {
    stage->blocks = layers;
    stage->turns = turns;
    stage->kept_bytes = (double)stage->stream_bytes * (double)turns * layers;
}

// How many blocks a stage has whose weights do not say: no more than arrays of any shape.
static double count_in_stage(const struct residuals *residuals, const struct block_stages *stages,
                             const struct kept_ops *kept) {
    uint32_t often = count_of_most_bytes(residuals, kept), fewest = UINT32_MAX;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        bool is_fewer = is_of_stage(residuals, stages, g, kept->stage) && residuals->groups[g].count < fewest;
        if (is_fewer) fewest = residuals->groups[g].count;
    }
    return often ? often : fewest;
}

double block_stages_kept_bytes(const struct block_stages *stages) {
    double kept = 0;
    for (uint32_t s = 0; s < stages->count; s++) kept += stages->stages[s].kept_bytes;
    return kept;
}

double block_stages_saved_bytes(const struct block_stages *stages) {
    double saved = 0;
    for (uint32_t s = 0; s < stages->count; s++) saved += stages->stages[s].saved_bytes;
    return saved;
}

// Where most is dropped; NULL without blocks.
static const struct block_stage *largest_stage(const struct block_stages *stages) {
    const struct block_stage *most = NULL;
    for (uint32_t s = 0; s < stages->count; s++) {
        if (!most || stages->stages[s].dropped_bytes > most->dropped_bytes) most = &stages->stages[s];
    }
    return stages->blocks >= 2 ? most : NULL;
}

int64_t block_stages_stream_bytes(const struct block_stages *stages) {
    const struct block_stage *stage = largest_stage(stages);
    return stage ? stage->stream_bytes : 0;
}

int64_t block_stages_input_bytes(const struct block_stages *stages) {
    const struct block_stage *stage = largest_stage(stages);
    int64_t turns = stage && stage->turns ? stage->turns : 1;
    return stage ? what_if_bytes((double)stage->stream_bytes * (double)turns) : 0;
}

static bool has_layers(const struct advisor *advisor, int64_t count) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        bool is_stack = loop_steps_is_stack(&advisor->steps, leaf) && advisor_is_weight(advisor, i);
        if (is_stack && advisor->graph.leaves[leaf].dimensions[0] == count) return true;
    }
    return false;
}

// Of a loop of the forward pass that stacks what follows the batch, how many turns it has; 0: it is none.
static int64_t turns_of(const struct advisor *advisor, uint32_t node) {
    int64_t length = 0;
    bool is_forward = advisor->phases.of_node[node] == PHASE_FORWARD;
    if (advisor->graph.nodes[node].opcode != OPCODE_WHILE || !is_forward || !advisor->is_stacking[node]) return 0;
    loop_steps_carried(&advisor->steps, &advisor->batch, node, &length);
    return length;
}

// The computation that a loop of so many turns stands in; HLO_NONE: there is none.
static uint32_t around_loop(const struct advisor *advisor, int64_t turns) {
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (turns_of(advisor, i) == turns) return advisor->graph.nodes[i].computation;
    }
    return HLO_NONE;
}

// Turns of the loops that stack, one after the other: two towers of twelve layers have 24. Loops inside of their turns
// are parts of a block; beside layers, those over time are of the loss.
static double count_turns(const struct advisor *advisor, const struct residuals *residuals) {
    uint32_t around = around_loop(advisor, residuals->loop_length);
    double turns = 0, least = (double)residuals->loop_length;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        int64_t length = advisor->graph.nodes[i].computation == around ? turns_of(advisor, i) : 0;
        if (length > 0 && has_layers(advisor, length)) turns += (double)length;
    }
    return turns > least ? turns : least;
}

// Matrices of a block that all are of one shape are counted each: then arrays of some shapes, which hold most of it,
// are kept a third as often or less. 0: no such.
static uint32_t fewer_by_shapes(const struct residuals *residuals, uint32_t most) {
    enum { OF_A_BLOCK = 3 };
    const double good_part = 0.6;
    for (uint32_t count = most / OF_A_BLOCK; count >= 2; count--) {
        double bytes = 0;
        for (uint32_t g = 0; most % count == 0 && g < residuals->group_count; g++) {
            const struct residual_group *group = &residuals->groups[g];
            if (group->is_block && group->count == count) bytes += residual_group_bytes(group);
        }
        if (bytes > good_part * (double)residuals->dropped_bytes) return count;
    }
    return 0;
}

// How many blocks there are, all alike: turns of loops, as weights say, or the operation that keeps most where several
// weights of a block have one shape. 0: there are stages.
static double count_alike_blocks(struct layer_count layers, double turns, const struct residuals *residuals,
                                 const struct block_stages *stages, const struct op_count *ops, uint32_t op_count) {
    if (residuals->loop_length) return turns;
    if (residuals->unequal_blocks) return residuals->unequal_blocks;
    uint32_t most = most_of_one_op(ops, op_count);
    if (layers.count < 2 || !(layers.is_even || is_nearly_one(residuals, stages))) return 0;
    uint32_t count = most >= 2 && layers.count % most == 0 ? most : layers.count;
    uint32_t fewer = fewer_by_shapes(residuals, count);
    return fewer ? fewer : count;
}

// Two towers have two loops, and of a shape each loop its own.
static uint32_t layers_of_turn(const struct advisor *advisor, const struct residuals *residuals, double turns) {
    uint32_t layers = layer_count_of_turn(advisor);
    double times = turns / (double)residuals->loop_length;
    if (!(times >= 1 && times <= layers)) return 0;
    uint32_t loops = (uint32_t)(times + 0.5);
    return layers % loops == 0 ? layers / loops : 0;
}

bool block_stages_by_layer(const struct block_stages *stages, struct block_stages *by_layer) {
    enum { FEW = 3 };
    const struct block_stage *stage = &stages->stages[0];
    if (stages->count != 1 || stage->turns || stage->layers < 2 || stage->layers > FEW) return false;
    *by_layer = *stages;
    by_layer->blocks *= stage->layers;
    by_layer->stages[0].blocks *= stage->layers;
    by_layer->stages[0].kept_bytes += (stage->layers - 1.0) * (stage->kept_bytes - stage->saved_bytes);
    return true;
}

static bool is_of_turns(const struct residuals *residuals, const struct block_stages *stages, uint8_t s) {
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        if (is_of_stage(residuals, stages, g, s) && residuals->groups[g].is_stacked) return true;
    }
    return false;
}

static void fill_stage(const struct advisor *advisor, const struct residuals *residuals, const struct kept_ops *kept,
                       double alike, double turns, struct block_stages *stages) {
    struct block_stage *stage = &stages->stages[kept->stage];
    bool is_of_loop = residuals->loop_length && is_of_turns(residuals, stages, kept->stage);
    stage->blocks = alike > 0 ? alike : is_of_loop ? turns : count_in_stage(residuals, stages, kept);
    choose_stream(residuals, stages, kept->stage);
    uint32_t loops = is_of_loop ? block_stages_loops_over_time(advisor, residuals) : 0;
    if (loops >= LAYERS_OVER_TIME)
        choose_layers(loops, residuals->loop_length, stage);
    else if (is_of_loop)
        choose_carried(advisor, stage);
    if (is_of_loop && !loops) stage->layers = layers_of_turn(advisor, residuals, turns);
    stages->blocks += stage->blocks;
}

// Far more scopes by name than blocks by weights, which keep most of it.
static bool are_scopes_blocks(const struct residuals *residuals, const struct block_stages *stages,
                              const struct scoped_blocks *scopes) {
    enum { FEW = 4 };
    const double far_more = 2, most = 0.6;
    return !residuals->loop_length && scopes->count >= FEW && scopes->count >= far_more * stages->blocks &&
           scopes->bytes >= most * (double)residuals->dropped_bytes;
}

static void put_by_scopes(const struct residuals *residuals, const struct scoped_blocks *scopes,
                          struct block_stages *stages) {
    put_by_kind(residuals, false, stages);
    stages->stages[0].blocks = stages->blocks = scopes->count;
    choose_stream(residuals, stages, 0);
}

void block_stages_find(const struct advisor *advisor, const struct residuals *residuals, struct block_stages *stages) {
    struct op_count ops[OPS_MAX];
    struct layer_count layers = layer_count_find(advisor);
    uint32_t op_count = count_ops(advisor, residuals, ops);
    *stages = (struct block_stages){.count = 0, .are_unequal = residuals->unequal_blocks > 0};
    memset(stages->stage_of_group, BLOCK_STAGES_MAX, sizeof stages->stage_of_group);
    put_into_stages(residuals, stages);
    put_in_order(stages);
    join_first(residuals, stages);
    bool is_apart = has_both_kinds(residuals);
    double turns = residuals->loop_length ? count_turns(advisor, residuals) : 0;
    double alike = is_apart ? 0 : count_alike_blocks(layers, turns, residuals, stages, ops, op_count);
    if (alike > 0 || is_apart) put_by_kind(residuals, is_apart, stages);
    for (uint32_t s = 0; s < stages->count; s++) {
        struct kept_ops kept = {ops, op_count, stages->stage_of_group, (uint8_t)s};
        fill_stage(advisor, residuals, &kept, alike, turns, stages);
    }
    struct scoped_blocks scopes;
    scoped_blocks_find(advisor, residuals, &scopes);
    if (are_scopes_blocks(residuals, stages, &scopes)) put_by_scopes(residuals, &scopes, stages);
}
