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

struct group_facts group_facts_of_row(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                                      const struct memory_buffer *row, struct arena *arena) {
    struct group_facts facts = {.rule = RULE_NONE};
    struct leaf_origin origin = buffer_source_of(sources, &sources->lines, row);
    if (origin.node == HLO_NONE || buffer_source_is_argument(sources, origin)) return facts;
    facts.place = buffer_source_place(sources, origin.node, arena);
    facts.about = is_of_lines(grouping) ? scope_of(sources, row, arena)
                                        : buffer_source_line(sources, origin.node, arena);
    return facts;
}

// --- How its phase is known ---

void phase_votes_add(struct phase_votes *votes, enum buffer_phase_rule rule, uint32_t evidence, int64_t size_bytes) {
    struct phase_vote *vote = &votes->of_rule[rule];
    vote->bytes += (double)size_bytes;
    if (vote->bytes > votes->of_rule[votes->rule].bytes) votes->rule = rule;
    if (evidence == HLO_NONE || (vote->has_evidence && size_bytes <= vote->most_bytes)) return;
    vote->has_evidence = true;
    vote->most_bytes = size_bytes;
    vote->evidence = evidence;
}

uint32_t phase_votes_evidence(const struct phase_votes *votes) {
    const struct phase_vote *vote = &votes->of_rule[votes->rule];
    return vote->has_evidence ? vote->evidence : HLO_NONE;
}

static void tell_rule(const struct members *m, struct group_facts *facts) {
    struct phase_votes votes = {.rule = RULE_NONE};
    for (uint32_t i = 0; i < m->count; i++) {
        struct buffer_phase_told told = buffer_phase_of(&m->grouping->phases, row_at(m, i));
        phase_votes_add(&votes, told.rule, told.evidence, row_at(m, i)->size_bytes);
    }
    uint32_t evidence = phase_votes_evidence(&votes);
    facts->rule = votes.rule;
    if (evidence != HLO_NONE) facts->evidence = hlo_instruction_read(m->grouping->view->module, evidence).name;
}

struct group_facts group_facts_of(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                                  const struct memory_groups *groups, uint32_t group, struct arena *arena) {
    const struct memory_group *row = &groups->rows[group];
    struct members members = {grouping, groups->members + row->first_member, row->buffers};
    const struct memory_buffer *first = largest(&members);
    struct group_facts facts = {.rule = RULE_NONE};
    if (first) facts = group_facts_of_row(grouping, sources, first, arena);
    if (grouping->by == GROUP_BY_PHASE) tell_rule(&members, &facts);
    return facts;
}
