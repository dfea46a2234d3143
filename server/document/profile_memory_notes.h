// Sentences that a reader of one memory's figures must know: what they cannot tell, and where XProf shows others.
#pragma once

#include "server/document/profile_memory.h"

// What XProf's summary counts: the events it samples.
struct xprof_counts {
    uint32_t allocations, frees;
};
struct xprof_counts xprof_counts_of(const struct profile_memory *memory);

// Fills memory->notes from the rest, on `arena`; a note that finds no room is left out.
void profile_memory_notes_make(struct profile_memory *memory, struct arena *arena);
