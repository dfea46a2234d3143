// Which part of a training step a buffer belongs to, and how that is known.
//
//     forward                    turn                    backward          optimizer
//     a [......]
//     b [..................................]          made forward, read backward: saved
//     c                                  [....]       XLA's clone (.remat) of a forward operation: backward
//
// Names tell most: jvp( is forward, transpose(jvp( backward. What no name tells is asked of the program: what is
// computed from gradients and is neither is the optimizer's; the rest goes to whoever reads it. Without a backward pass
// all that is computed is forward. What nobody tells is unknown. Lives on the caller's arena.
#pragma once

#include "analysis/groups/buffer_sources.h"
#include "analysis/groups/phases.h"

enum buffer_phase {
    BUFFER_UNKNOWN,
    BUFFER_FORWARD,
    BUFFER_SAVED,
    BUFFER_BACKWARD,
    BUFFER_OPTIMIZER,
    BUFFER_INPUT,
    BUFFER_OUTPUT,
    BUFFER_PHASE_COUNT,
};

// "forward", "saved for backward", "backward", "optimizer", "inputs", "outputs", "unknown".
const char *buffer_phase_name(enum buffer_phase phase);

enum buffer_phase_rule {
    RULE_NONE,              // nothing tells
    RULE_CATEGORY,          // its allocation is an input's or an output's
    RULE_ARGUMENT,          // it is computed from an argument alone, by copies and the like
    RULE_OP_NAME,           // its op_name, or that of the operation it comes from
    RULE_READER,            // made forward, and read backward
    RULE_CLONE,             // XLA computes it again after the turn
    RULE_FROM_GRADIENTS,    // neither forward nor backward, and computed from what is backward
    RULE_FOR_READER,        // no name tells; its first reader in this order: forward, backward, optimizer
    RULE_NO_BACKWARD_PASS,  // nothing is trained
    BUFFER_PHASE_RULE_COUNT,
};

// "op_name", "read_backward", ...; "" for RULE_NONE.
const char *buffer_phase_rule_name(enum buffer_phase_rule rule);

struct buffer_phase_told {
    enum buffer_phase phase;
    enum buffer_phase_rule rule;
    uint32_t evidence;  // the node that tells, or HLO_NONE
};

struct buffer_phases {
    const struct buffer_sources *sources;
    struct phases phases;
    uint8_t *of_node;  // enum phase, the optimizer's among them
    uint8_t *read_in;  // of each leaf: 1 << enum phase of those that read it
    bool has_backward;
};

// `replay` is of the view whose rows will be asked for. False at the arena's limit.
MUST_USE bool buffer_phases_find(const struct buffer_sources *sources, const struct heap_replay *replay,
                                 struct arena *arena, struct buffer_phases *phases);

struct buffer_phase_told buffer_phase_of(const struct buffer_phases *phases, const struct memory_buffer *row);
