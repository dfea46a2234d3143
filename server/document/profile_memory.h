// What is told of one memory of a Memory Profile: made and written by profile_memory_json, for the page and for report;
// profile_memory_notes fills the notes.
#pragma once

#include "analysis/profile/questions/timeline_summary.h"
#include "analysis/profile/xprof/xprof_profile.h"

enum { PROFILE_MEMORY_NOTES_MAX = 12 };

struct profile_memory {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    struct timeline_summary summary;
    const struct xprof_profile *xprof;
    const char *notes[PROFILE_MEMORY_NOTES_MAX];
    size_t note_count;
};
