// A host without memory events: what was looked for and not found, and what to do about it.
#pragma once

#include "analysis/profile/memory_profile.h"
#include "server/text/json_writer.h"

// Of a session without hosts; of one with several that have events.
extern const char profile_no_file_note[], profile_clocks_note[];

// "events", "no_events", "no_host_plane", "error" (docs/api.md); `fault` is that of the file.
const char *profile_state(const struct memory_profile *profile, const struct error *fault);

// Keys of an open object: what is wrong with the host's profile, and what is in it by number.
void profile_head_write(const struct memory_profile *profile, const struct error *fault, const char *state,
                        struct json_writer *w);

// On `arena`; never NULL.
const char *profile_reason(const struct memory_profile *profile, struct arena *arena);
const char *profile_advice(bool session_has_programs);

// How many of the host's events are shown nowhere, and why. On `arena`; NULL when there are none, or at its limit.
const char *profile_left_out(const struct memory_profile *profile, const char *host, struct arena *arena);
