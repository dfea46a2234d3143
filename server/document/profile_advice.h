// A host without memory events: what was looked for and not found, and what to do about it.
#pragma once

#include "analysis/profile/memory_profile.h"

// On `arena`; never NULL.
const char *profile_reason(const struct memory_profile *profile, struct arena *arena);
const char *profile_advice(bool session_has_programs);

// How many of the host's events are shown nowhere, and why. On `arena`; NULL when there are none, or at its limit.
const char *profile_left_out(const struct memory_profile *profile, const char *host, struct arena *arena);
