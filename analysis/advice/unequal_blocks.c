#include "analysis/advice/unequal_blocks.h"

#include "analysis/advice/source_line.h"
#include "analysis/program/op_name.h"

struct line {  // of the source; what it makes is of one type and as many dimensions
    int32_t frame;
    struct bytes primitive;
    int element_type, rank;
};

static struct line line_of(const struct advisor *advisor, const struct residual_group *group, uint32_t instruction) {
    const struct graph_node *node = &advisor->graph.nodes[instruction];
    return (struct line){.frame = source_line_of(advisor->module, instruction),
                         .primitive = op_name_primitive(node->op_name),
                         .element_type = group->shape.element_type,
                         .rank = group->shape.rank};
}

static bool is_same_line(const struct line *a, const struct line *b) {
    return a->frame > 0 && a->frame == b->frame && a->element_type == b->element_type && a->rank == b->rank &&
           bytes_equal(a->primitive, b->primitive);
}

struct made_there {  // by one line
    uint32_t groups, alone, arrays;
    uint32_t first_start, last_start;
    double bytes;
};

static struct made_there made_by(const struct line *line, const struct residual_group *groups, const struct line *lines,
                                 uint32_t group_count) {
    struct made_there made = {.first_start = UINT32_MAX};
    for (uint32_t i = 0; i < group_count; i++) {
        const struct residual_group *group = &groups[i];
        if (group->is_stacked || !is_same_line(line, &lines[i])) continue;
        made.groups++;
        made.alone += group->count == 1;
        made.arrays += group->count;
        made.bytes += residual_group_bytes(group);
        if (group->first_start < made.first_start) made.first_start = group->first_start;
        if (group->last_start > made.last_start) made.last_start = group->last_start;
    }
    return made;
}

// All through the forward pass, and not only at its ends.
static bool is_spread(const struct advisor *advisor, const struct made_there *made) {
    enum { SEVERAL = 4 };
    const double most_of_it = 0.5;
    double stretch = (double)made->last_start - (double)made->first_start;
    return made->arrays >= SEVERAL && stretch > most_of_it * (double)advisor->phases.turn_step;
}

// Of stages, each line makes several of each shape.
static bool is_of_unequal(const struct advisor *advisor, const struct made_there *made) {
    enum { ALONE = 2 };
    return made->groups >= 2 && made->alone >= ALONE && is_spread(advisor, made);
}

// What a line makes in each block, and other lines of its type and shape in some: the rarest of those that hold much.
static uint32_t count_blocks(const struct made_there *made, const bool *is_unequal, uint32_t group_count) {
    const double much = 0.25;
    double most = 0;
    uint32_t count = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        if (is_unequal[g] && made[g].bytes > most) most = made[g].bytes;
    }
    for (uint32_t g = 0; g < group_count; g++) {
        if (is_unequal[g] && made[g].bytes >= much * most && (!count || made[g].arrays < count)) count = made[g].arrays;
    }
    return count;
}

uint32_t unequal_blocks_find(const struct advisor *advisor, struct residual_group *groups, uint32_t group_count) {
    const double good_part = 0.2;
    struct line lines[RESIDUAL_GROUPS_MAX] = {{0}};
    struct made_there made[RESIDUAL_GROUPS_MAX];
    bool is_unequal[RESIDUAL_GROUPS_MAX];
    double unequal = 0, all = 0;
    for (uint32_t g = 0; g < group_count; g++) lines[g] = line_of(advisor, &groups[g], groups[g].instruction);
    for (uint32_t g = 0; g < group_count; g++) {
        made[g] = made_by(&lines[g], groups, lines, group_count);
        is_unequal[g] = is_of_unequal(advisor, &made[g]);
        groups[g].is_block |= is_unequal[g];
        all += groups[g].is_block ? residual_group_bytes(&groups[g]) : 0;
        unequal += is_unequal[g] ? residual_group_bytes(&groups[g]) : 0;
    }
    return unequal > good_part * all ? count_blocks(made, is_unequal, group_count) : 0;
}

void unequal_blocks_join_first(const struct advisor *advisor, const uint32_t *group_of_span,
                               struct residual_group *groups, uint32_t group_count) {
    struct line lines[RESIDUAL_GROUPS_MAX] = {{0}};
    for (uint32_t g = 0; g < group_count; g++) lines[g] = line_of(advisor, &groups[g], groups[g].instruction);
    for (uint32_t i = 0; i < advisor->what_if.replay.span_count; i++) {
        uint32_t of = group_of_span[i];
        if (of == HLO_NONE || !groups[of].is_block || groups[of].is_joined) continue;
        uint32_t instruction = advisor->module->buffers[advisor->what_if.replay.spans[i].buffer].instruction;
        struct line line = line_of(advisor, &groups[of], instruction);
        for (uint32_t g = 0; g < group_count; g++)
            groups[g].is_joined |= !groups[g].is_block && !groups[g].is_stacked && is_same_line(&line, &lines[g]);
    }
    for (uint32_t g = 0; g < group_count; g++) groups[g].is_block |= groups[g].is_joined;
}
