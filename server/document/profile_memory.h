// What is told of one memory of a Memory Profile, in its overview (docs/api.md) and by the report: its figures and
// XProf's beside them (profile_memory_json), and sentences that a reader of them must know (profile_memory_notes).
#pragma once

#include "analysis/profile/questions/timeline_summary.h"
#include "analysis/profile/xprof/xprof_profile.h"
#include "server/text/json_writer.h"

enum { PROFILE_MEMORY_NOTES_MAX = 12 };

struct profile_memory {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    struct timeline_summary summary;
    const struct xprof_profile *xprof;
    const char *notes[PROFILE_MEMORY_NOTES_MAX];
    size_t note_count;
};

// Sums the timeline up; all of it is on `arena`. False when that is at its limit.
MUST_USE bool profile_memory_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                  struct arena *arena, struct profile_memory *memory, struct error *error);

// An object.
void profile_memory_write(const struct profile_memory *memory, struct json_writer *w);

// What XProf's summary counts: the events it samples.
struct xprof_counts {
    uint32_t allocations, frees;
};
struct xprof_counts xprof_counts_of(const struct profile_memory *memory);

// Fills memory->notes from the rest: what the figures cannot tell, and where XProf shows others. On `arena`; a note
// that finds no room is left out.
void profile_memory_notes_make(struct profile_memory *memory, struct arena *arena);
