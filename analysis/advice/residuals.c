#include "analysis/advice/residuals.h"

#include "analysis/advice/loop_stacks.h"
#include "analysis/advice/loop_steps.h"

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

static uint32_t group_for(struct residuals *residuals, const struct array_shape *shape, bool is_stacked) {
    for (uint32_t i = 0; i < residuals->group_count; i++) {
        if (residuals->groups[i].is_stacked == is_stacked &&
            residuals->groups[i].shape.element_type == shape->element_type &&
            array_same_dimensions(&residuals->groups[i].shape, shape))
            return i;
    }
    if (residuals->group_count == RESIDUAL_GROUPS_MAX) return HLO_NONE;
    residuals->groups[residuals->group_count] = (struct residual_group){
        .shape = *shape, .first_start = UINT32_MAX, .is_stacked = is_stacked};
    return residuals->group_count++;
}

static bool group_all(const struct advisor *advisor, struct residuals *residuals) {
    const struct heap_replay *replay = replay_of(advisor);
    residuals->groups = arena_push_raw(advisor->arena, RESIDUAL_GROUPS_MAX, sizeof *residuals->groups);
    residuals->group_of_span = arena_push_raw(advisor->arena, replay->span_count, sizeof *residuals->group_of_span);
    const uint8_t *stacks = loop_stacks_find(advisor);
    if (!residuals->groups || !residuals->group_of_span || !stacks)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the residuals");
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        residuals->group_of_span[i] = HLO_NONE;
        if (!is_residual(advisor, stacks, span)) continue;
        uint32_t leaf = advisor_leaf(advisor, span->buffer);
        uint32_t g = group_for(residuals, &advisor->graph.leaves[leaf], loop_steps_is_stack(&advisor->steps, leaf));
        residuals->group_of_span[i] = g;
        if (g == HLO_NONE) continue;
        struct residual_group *group = &residuals->groups[g];
        group->count++;
        group->bytes = advisor->module->buffers[span->buffer].size_bytes;
        if (span->start_step < group->first_start) group->first_start = span->start_step;
        if (span->start_step > group->last_start) group->last_start = span->start_step;
    }
    return true;
}

static int64_t length_of_loop(const struct residuals *residuals) {
    double most = 0;
    int64_t length = 0;
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        const struct residual_group *group = &residuals->groups[g];
        double bytes = (double)group->bytes * group->count;
        if (!group->is_stacked || bytes <= most) continue;
        most = bytes;
        length = group->shape.dimensions[0];
    }
    return length;
}

static void choose_groups(const struct advisor *advisor, struct residuals *residuals) {
    for (uint32_t g = 0; g < residuals->group_count; g++) {
        struct residual_group *group = &residuals->groups[g];
        bool is_spread = (double)(group->last_start - group->first_start) > 0.05 * (double)advisor->phases.turn_step;
        group->is_block = group->is_stacked || (!residuals->loop_length && group->count >= 2 && is_spread);
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
    sum_dropped(advisor, residuals);
    return true;
}
