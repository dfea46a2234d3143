// Which buffer of one program is which of another.
//
//     A                                       B
//     fusion.14  jit(f)/attn/dot   bf16[8]    fusion.26  jit(f)/attn/dot   bf16[8]     by op name, opcode and shape
//     fusion.15  jit(f)/mlp/dot    bf16[8]    fusion.29  jit(f)/mlp/dot    bf16[16]    by op name and opcode
//     params['w']                             params['w']                              by its path
//     fusion.16  jit(f)/head/dot   bf16[4]    fusion.30  jit(f)/out/dot    bf16[4]     by line, opcode and shape
//
// What is told apart best is paired first, each by the words of a pass; of equal ones the first in the program with the
// first. Only what has the same use is paired. Sorting, no table: equal in cost for any program, n log n.
#pragma once

#include "analysis/compare/compared_buffers.h"

#define UNPAIRED UINT32_MAX

struct buffer_pairs {
    uint32_t *of_a;  // for each buffer of A its number in B, or UNPAIRED
    uint32_t *of_b;
};

// False at the arena's limit.
MUST_USE bool buffer_pairs_find(const struct compared_buffers *a, const struct compared_buffers *b, struct arena *arena,
                                struct buffer_pairs *pairs);
