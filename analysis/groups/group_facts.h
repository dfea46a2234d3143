// What a group is about, beside its key: its largest buffer speaks for it.
//
//     key            about                 place
//     train.py:53    attention             /home/u/train.py:53      grouped by line: what is computed there
//     attention      train.py:53           /home/u/train.py:53      grouped otherwise: the line
//     params.layers                                                 an argument has neither
//
// Of a phase also how it is known: the rule by which most of its bytes came to it, and what told of the largest of
// these. Borrows grouping and sources; texts live on the caller's arena, and are empty at its limit.
#pragma once

#include "analysis/groups/memory_groups.h"

struct group_facts {
    struct bytes about, place;
    enum buffer_phase_rule rule;  // RULE_NONE unless the groups are phases
    struct bytes evidence;        // an instruction
};

struct group_facts group_facts_of(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                                  const struct memory_groups *groups, uint32_t group, struct arena *arena);

// The same of a group of this row alone, without the phase.
struct group_facts group_facts_of_row(const struct memory_grouping *grouping, const struct buffer_sources *sources,
                                      const struct memory_buffer *row, struct arena *arena);

// How the phase of a group is known, from its buffers one after the other; zero before the first. `evidence` is a
// number of the caller's, HLO_NONE for none.
struct phase_vote {
    double bytes;
    int64_t most_bytes;  // of the buffer that told
    uint32_t evidence;
    bool has_evidence;
};

struct phase_votes {
    struct phase_vote of_rule[BUFFER_PHASE_RULE_COUNT];
    enum buffer_phase_rule rule;  // that most bytes came by
};

void phase_votes_add(struct phase_votes *votes, enum buffer_phase_rule rule, uint32_t evidence, int64_t size_bytes);

// What told of the largest buffer that came by that rule.
uint32_t phase_votes_evidence(const struct phase_votes *votes);
