// One memory in the overview of the Memory Profile (docs/api.md): its figures, XProf's beside them, and what a reader
// must know about both.
#pragma once

#include "server/document/profile_memory.h"
#include "server/text/json_writer.h"

// Sums the timeline up; all of it is on `arena`. False when that is at its limit.
MUST_USE bool profile_memory_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                  struct arena *arena, struct profile_memory *memory, struct error *error);

// An object.
void profile_memory_write(const struct profile_memory *memory, struct json_writer *w);
