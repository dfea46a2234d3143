#include "analysis/advice/residuals.h"

#include "analysis/advice/first_reading.h"
#include "analysis/advice/loop_stacks.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/advice/scoped_join.h"
#include "analysis/advice/unequal_blocks.h"
#include "analysis/advice/unpacked.h"
#include "analysis/hlo/element_type.h"
#include "analysis/program/op_name.h"

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

// What may be kept: what follows the batch, what packed weights are unpacked to, and what else a loop's turns stack up.
struct kept {
    const uint8_t *stacks;
    const bool *unpacked;
};

static bool may_be_kept(const struct advisor *advisor, const struct kept *kept, uint32_t instruction, uint32_t leaf) {
    return advisor->batch.marks[leaf] || kept->unpacked[instruction] || (kept->stacks[leaf] & STACK_FILLED);
}

static bool is_residual(const struct advisor *advisor, const struct kept *kept, const struct heap_span *span) {
    const uint8_t *stacks = kept->stacks;
    uint32_t instruction = advisor->module->buffers[span->buffer].instruction;
    uint32_t leaf = advisor_leaf(advisor, span->buffer);
    if (instruction == HLO_NONE || leaf == HLO_NONE) return false;
    if (stacks[leaf] & STACK_TOGETHER) return false;
    if (!may_be_kept(advisor, kept, instruction, leaf)) return false;
    if (stacks[leaf] & (STACK_COPY | STACK_KEPT)) return true;
    if (stacks[leaf] == STACK_BACKWARD && loop_steps_is_stack(&advisor->steps, leaf)) return false;
    return span->end_step > advisor->phases.next_turn[span->start_step] &&
           advisor->phases.of_node[instruction] != PHASE_BACKWARD;
}

static uint32_t group_for(struct residuals *residuals, const struct array_shape *shape, bool is_stacked) {
    for (uint32_t i = 0; i < residuals->group_count; i++) {
        if (residuals->groups[i].is_stacked == is_stacked &&
            residuals->groups[i].shape.element_type == shape->element_type &&
            array_same_dimensions(&residuals->groups[i].shape, shape))
            return i;
    }
    if (residuals->group_count == RESIDUAL_GROUPS_MAX) return HLO_NONE;
    residuals->groups[residuals->group_count] = (struct residual_group){.shape = *shape,
                                                                        .first_start = UINT32_MAX,
                                                                        .first_reading = UINT32_MAX,
                                                                        .needs_no_block = true,
                                                                        .is_stacked = is_stacked,
                                                                        .is_rounded = true};
    return residuals->group_count++;
}

// A stack that loops fill: what is made of all their turns afterwards (the logits of all steps) is handed to none. Of
// loops in loops it is not known who fills what.
static bool is_filled(const struct advisor *advisor, const uint8_t *stacks, uint32_t leaf) {
    const struct graph_node *node = &advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]];
    bool is_known = node->computation == advisor->graph.entry;
    bool is_copy = stacks[leaf] & STACK_COPY;  // in another order: its turns may be any dimension
    return is_copy || (loop_steps_is_stack(&advisor->steps, leaf) && (stacks[leaf] || !is_known));
}

// Masks, or copies of one array: of a bias that all layers' scores are added to. `instruction` makes one of a group's.
static bool needs_no_block(const struct program_graph *graph, const struct residual_group *group,
                           uint32_t instruction) {
    const struct graph_node *node = &graph->nodes[instruction], *first = &graph->nodes[group->instruction];
    return group->shape.element_type == ELEMENT_TYPE_PRED ||
           (node->opcode == OPCODE_COPY && graph_operand(graph, node, 0) == graph_operand(graph, first, 0));
}

static void note_reading(uint32_t time, struct residual_group *group) {
    if (time == SCHEDULE_NEVER) return;
    if (time < group->first_reading) group->first_reading = time;
    if (time > group->last_reading) group->last_reading = time;
}

static bool group_all(const struct advisor *advisor, struct residuals *residuals) {
    const struct heap_replay *replay = replay_of(advisor);
    residuals->groups = arena_push_raw(advisor->arena, RESIDUAL_GROUPS_MAX, sizeof *residuals->groups);
    residuals->group_of_span = arena_push_raw(advisor->arena, replay->span_count, sizeof *residuals->group_of_span);
    struct kept kept = {loop_stacks_find(advisor), unpacked_find(advisor)};
    const uint32_t *reads = first_reading_find(advisor);
    if (!residuals->groups || !residuals->group_of_span || !kept.stacks || !kept.unpacked || !reads)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        residuals->group_of_span[i] = HLO_NONE;
        if (!is_residual(advisor, &kept, span)) continue;
        uint32_t leaf = advisor_leaf(advisor, span->buffer);
        uint32_t g = group_for(residuals, &advisor->graph.leaves[leaf], is_filled(advisor, kept.stacks, leaf));
        residuals->group_of_span[i] = g;
        if (g == HLO_NONE) continue;
        struct residual_group *group = &residuals->groups[g];
        uint32_t instruction = advisor->module->buffers[span->buffer].instruction;
        if (!group->count) group->instruction = instruction;
        group->count++;
        group->needs_no_block &= needs_no_block(&advisor->graph, group, instruction);
        note_reading(reads[leaf], group);
        group->bytes = advisor->module->buffers[span->buffer].size_bytes;
        group->is_rounded = group->is_rounded && type_flow_is_rounded(&advisor->types, &advisor->graph, leaf);
        if (span->start_step < group->first_start) group->first_start = span->start_step;
        if (span->start_step > group->last_start) group->last_start = span->start_step;
    }
    return true;
}

// An operation of the forward pass that adds two float32 arrays of these dimensions, not a bias.
static bool is_sum(const struct advisor *advisor, uint32_t index, const struct array_shape *shape) {
    const struct program_graph *graph = &advisor->graph;
    const struct graph_node *node = &graph->nodes[index];
    if (node->opcode != OPCODE_OTHER || node->leaf_count != 1) return false;
    if (advisor->phases.of_node[index] != PHASE_FORWARD) return false;
    const struct array_shape *sum = &graph->leaves[node->first_leaf];
    if (sum->element_type != ELEMENT_TYPE_F32 || !array_same_dimensions(sum, shape)) return false;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(graph, node, i);
        if (operand == HLO_NONE || graph->nodes[operand].opcode == OPCODE_BROADCAST) return false;
    }
    return bytes_equal(op_name_primitive(node->op_name), BYTES("add"));
}

// Are such arrays what blocks add to, in float32? What only products read stays rounded between blocks too.
static bool is_added_to(const struct advisor *advisor, const struct array_shape *shape) {
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (is_sum(advisor, i, shape)) return true;
    }
    return false;
}

static int64_t length_of_loop(const struct residuals *residuals) {
    double most = 0;
    int64_t length = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        if (!group->is_stacked || residual_group_bytes(group) <= most) continue;
        most = residual_group_bytes(group);
        length = group->shape.dimensions[0];
    }
    return length;
}

static bool is_made_over_time(const struct advisor *advisor, const struct residual_group *group) {
    const double of_forward_pass = 0.05;
    return (double)(group->last_start - group->first_start) > of_forward_pass * (double)advisor->phases.turn_step;
}

static bool is_read_over_time(const struct advisor *advisor, const struct residual_group *group) {
    const double of_all = 0.02;
    return group->needs_no_block && group->last_reading > group->first_reading &&
           (double)(group->last_reading - group->first_reading) > of_all * (double)advisor->schedule.count;
}

// Several of one shape, over a stretch of the program.
static bool is_repeated(const struct advisor *advisor, const struct residual_group *group) {
    return !group->is_stacked && group->count >= 2 &&
           (is_made_over_time(advisor, group) || is_read_over_time(advisor, group));
}

// When loops' turns keep arrays: from the first stack to the last.
static bool is_amid_loops(const struct residuals *residuals, const struct residual_group *group) {
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *other = &residuals->groups[g];
        if (!other->is_stacked) continue;
        if (other->first_start < first) first = other->first_start;
        if (other->last_start > last) last = other->last_start;
    }
    return group->first_start <= last && first <= group->last_start;
}

// Before or after all loops: do blocks that are none of their turns keep a good part of it? What is done once for each
// of several loops may be a block or none.
static bool has_blocks_outside(const struct advisor *advisor, const struct residuals *residuals) {
    const double good_part = 0.2;
    double stacked = 0, repeated = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        if (group->is_stacked) stacked += residual_group_bytes(group);
        if (is_repeated(advisor, group) && !is_amid_loops(residuals, group)) repeated += residual_group_bytes(group);
    }
    return repeated > good_part * stacked;
}

static void choose_groups(const struct advisor *advisor, struct residuals *residuals) {
    bool has_outside = has_blocks_outside(advisor, residuals);
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        struct residual_group *group = &residuals->groups[g];
        group->is_rounded = group->is_rounded && is_added_to(advisor, &group->shape);
        group->is_block = group->is_stacked ||
                          (has_outside && is_repeated(advisor, group) && !is_amid_loops(residuals, group));
        group->is_begun_at_once = group->is_block && !group->is_stacked && !is_made_over_time(advisor, group);
    }
}

static void sum_dropped(const struct advisor *advisor, struct residuals *residuals) {
    int64_t largest = -1;
    for (uint32_t i = 0; i < replay_of(advisor)->span_count; i++) {
        if (!residuals_has(residuals, i)) continue;
        int64_t bytes = advisor->module->buffers[replay_of(advisor)->spans[i].buffer].size_bytes;
        residuals->dropped_bytes += bytes;
        residuals->dropped_count++;
        if (bytes <= largest) continue;
        largest = bytes;
        residuals->largest = i;
    }
}

int64_t residual_bytes_of_block(const struct residual_group *group) {
    bool is_stack = group->is_stacked && group->shape.dimensions[0] > 0;
    return is_stack ? group->bytes / group->shape.dimensions[0] : group->bytes;
}

int64_t residual_bytes_unrounded(const struct residual_group *group) {
    enum { BF16_IN_F32 = 2 };
    return residual_bytes_of_block(group) * (group->is_rounded ? BF16_IN_F32 : 1);
}

double residuals_begun_at_once(const struct advisor *advisor, const struct residuals *residuals, bool are_copies) {
    double bytes = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        bool is_copy = advisor->graph.nodes[group->instruction].opcode == OPCODE_COPY;
        if (group->is_begun_at_once && is_copy == are_copies) bytes += residual_group_bytes(group);
    }
    return bytes;
}

bool residuals_has_as_large(const struct residuals *residuals, const struct array_shape *shape) {
    int64_t elements = array_shape_elements(shape);
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        if (group->is_block && array_shape_elements(&group->shape) == elements) return true;
    }
    return false;
}

bool residuals_find(const struct advisor *advisor, struct residuals *residuals) {
    *residuals = (struct residuals){0};
    if (!group_all(advisor, residuals)) return false;
    residuals->loop_length = length_of_loop(residuals);
    choose_groups(advisor, residuals);
    if (!advisor->has_convolutions && !residuals->loop_length)
        residuals->unequal_blocks = unequal_blocks_find(advisor, residuals->groups, residuals->group_count);
    if (advisor->has_convolutions && !residuals->loop_length) {
        unequal_blocks_join_first(advisor, residuals->group_of_span, residuals->groups, residuals->group_count);
        scoped_join(advisor, residuals->group_of_span, residuals->groups, residuals->group_count);
    }
    sum_dropped(advisor, residuals);
    return true;
}
