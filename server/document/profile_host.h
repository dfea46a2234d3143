// What the overview of the Memory Profile tells of one host: worked out once for each version of its file, and kept as
// it is told, because the profile it is taken from is much larger and is let go.
//
//     file ─> memory_profile ─> { "error": null, "state": "events", ..., "memories": [...] }   in the cache
//
// A content that cannot be read is told as well ("state": "error"); what may be different the next time is not kept.
#pragma once

#include "server/store/profile_store.h"
#include "server/text/json_writer.h"

struct profile_host {
    struct bytes members;  // of the JSON object, but for the host's name and the advice
    bool has_events, has_module_runs;
    bool lacks_events;  // the profile is whole, and holds none: there is advice
    const char *note;   // what of the file is not told; NULL: nothing
};

// NULL: not worked out yet.
MUST_USE const struct profile_host *profile_host_known(struct work *work, const struct input_file *file);

// Reads the profile when it is not known. NULL: *error is filled.
MUST_USE const struct profile_host *profile_host_load(struct work *work, const struct input_file *file,
                                                      struct error *error);

// The members of a host without figures: `fault` says why, or NULL when it is still to be read.
void profile_host_write_blank(const struct error *fault, struct json_writer *w);
