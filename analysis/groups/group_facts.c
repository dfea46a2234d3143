#include "analysis/groups/group_facts.h"

#include "analysis/program/op_name.h"

struct members {
    const struct memory_grouping *grouping;
    const uint32_t *rows;
    uint32_t count;
};

static const struct memory_buffer *row_at(const struct members *m, uint32_t i) {
    return &m->grouping->view->rows[m->rows[i]];
}

static enum buffer_phase_rule rule_at(const struct members *m, uint32_t i) {
    return buffer_phase_of(&m->grouping->phases, row_at(m, i)).rule;
}

// --- What it is about ---

static const struct memory_buffer *largest(const struct members *m) {
    const struct memory_buffer *best = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!best || row_at(m, i)->size_bytes > best->size_bytes) best = row_at(m, i);
    }
    return best;
}

static struct bytes scope_of(const struct buffer_sources *sources, const struct memory_buffer *row,
                             struct arena *arena) {
    struct leaf_origin origin = buffer_source_of(sources, &sources->names, row);
    if (origin.node == HLO_NONE || buffer_source_is_argument(sources, origin)) return (struct bytes){0};
    return op_name_scope(sources->graph.nodes[origin.node].op_name, true, arena);
}

static bool is_of_lines(const struct memory_grouping *grouping) {
    return grouping->by == GROUP_BY_STACK || (grouping->by == GROUP_BY_SOURCE && grouping->rule == GROUP_RULE_LINES);
}

static void tell_about(const struct members *m, const struct buffer_sources *sources, struct arena *arena,
                       struct group_facts *facts) {
    const struct memory_buffer *row = largest(m);
    struct leaf_origin origin = row ? buffer_source_of(sources, &sources->lines, row)
                                    : (struct leaf_origin){HLO_NONE, ORIGIN_NONE, 0};
    if (origin.node == HLO_NONE || buffer_source_is_argument(sources, origin)) return;
    facts->place = buffer_source_place(sources, origin.node, arena);
    facts->about = is_of_lines(m->grouping) ? scope_of(sources, row, arena)
                                            : buffer_source_line(sources, origin.node, arena);
}

// --- How its phase is known ---

static void tell_rule(const struct members *m, struct group_facts *facts) {
    double bytes[BUFFER_PHASE_RULE_COUNT] = {0};
    for (uint32_t i = 0; i < m->count; i++) {
        enum buffer_phase_rule rule = rule_at(m, i);
        bytes[rule] += (double)row_at(m, i)->size_bytes;
        if (bytes[rule] > bytes[facts->rule]) facts->rule = rule;
    }
    int64_t most = -1;
    for (uint32_t i = 0; i < m->count; i++) {
        struct buffer_phase_told told = buffer_phase_of(&m->grouping->phases, row_at(m, i));
        if (told.rule != facts->rule || told.evidence == HLO_NONE || row_at(m, i)->size_bytes <= most) continue;
        most = row_at(m, i)->size_bytes;
        facts->evidence = hlo_instruction_read(m->grouping->view->module, told.evidence).name;
    }
}

struct group_facts group_facts_of(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                                  const struct memory_groups *groups, uint32_t group, struct arena *arena) {
    const struct memory_group *row = &groups->rows[group];
    struct members members = {grouping, groups->members + row->first_member, row->buffers};
    struct group_facts facts = {.rule = RULE_NONE};
    tell_about(&members, sources, arena, &facts);
    if (grouping->by == GROUP_BY_PHASE) tell_rule(&members, &facts);
    return facts;
}
