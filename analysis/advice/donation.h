// What becomes of an input when the inputs are donated.
//
//     w ── update ──> w'         w' may lie where w does                            FREES
//     w ── loss ──> dw           dw is as large, but w is still needed after it     OF_GRADIENT
//     cache ── loop ──> cache'   the loop reads the old while it writes the new     COPIED_BY_LOOP
//     cache ── turned ── scatter ── turned ──> cache'   a copy in another order     TURNED
//
// Donating alone, donating beside other changes and the code that a user is given rest on the same answers.
#pragma once

#include "analysis/advice/program_roles.h"
#include "analysis/groups/phases.h"

enum donation {
    DONATION_NOTHING,
    DONATION_IS_DONE,
    DONATION_OF_GRADIENT,
    DONATION_COPIED_BY_LOOP,
    DONATION_TURNED,
    DONATION_FREES,
    DONATION_COUNT
};

// enum donation of each input. NULL at the arena's limit.
uint8_t *donations_find(const struct program_graph *graph, const struct program_roles *roles,
                        const struct phases *phases, struct arena *arena);
