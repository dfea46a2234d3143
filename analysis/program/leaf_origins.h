// Where an array comes from, when its own operation does not tell: the nearest operation that does.
//
//     %a = fusion(..)          told: train.py:53            told is what the caller says
//     %c = copy(%a)            not told: from its operand %a, one link away
//     %d = copy-start(%c)      not told: from its operand %a, two away
//     %z = broadcast(%zero)    not told, nor is what it computes from: from its user %u
//     %u = add(%z, %x)         told
//
// Operands are asked before users, the nearest first; of equally near ones an operation before an entry parameter, then
// the first operand. What is handed on under another name keeps its place (leaf_links.h): an element of a tuple is
// asked for that element, a fusion for the root of its body and what that computes from, a parameter of a called
// computation for what its callers pass.
//
// Bounded: LEAF_ORIGIN_LINKS_MAX away, and so much work in all; what is not found then has no origin.
#pragma once

#include "analysis/program/program_graph.h"

enum { LEAF_ORIGIN_LINKS_MAX = 100 };

enum leaf_origin_way { ORIGIN_NONE, ORIGIN_OWN, ORIGIN_OPERAND, ORIGIN_USER };

struct leaf_origin {
    uint32_t node;  // that tells; HLO_NONE without one
    uint8_t way;    // enum leaf_origin_way
    uint8_t links;  // how far away, in the direction of `way`
};

struct leaf_origins {
    struct leaf_origin *of_leaf;
    struct leaf_origin *of_node;  // of its first leaf that has one
};

// `is_told` says of each node whether it tells. False at the arena's limit.
MUST_USE bool leaf_origins_find(const struct program_graph *graph, const uint8_t *is_told, struct arena *arena,
                                struct leaf_origins *origins);
