// When a session was recorded. Profilers name its folder after that moment, in local time; where a name tells nothing,
// the folder's last change stands for it.
//
//     runs/2026_11_03_10_00_00        2026-11-03 10:00:00
//     2026-11-03-nightly              2026-11-03
//
// Times are seconds since 1970, those of names taken as if they were UTC: they order and label, no more.
#pragma once

#include "analysis/base/arena.h"

// False: the name begins, in its last part, with no date.
bool session_time_of_name(const char *session, int64_t *time_s);

// "2026-11-03", or with `has_clock` "2026-11-03 10:00". On `arena`, "" at its limit.
const char *session_date(int64_t time_s, bool has_clock, struct arena *arena);
