// An errno as an error of ours: the one place where the system's words become a user's sentence.
#pragma once

#include "analysis/base/error.h"

// "cannot <action>: <the system's reason>; <what to do>", about `path`. ERROR_NOT_FOUND when nothing is there,
// ERROR_NO_MEMORY when the system has no memory or no descriptor left (refused_memory.h), else ERROR_UNREADABLE.
bool system_error(struct error *error, int number, const char *action, const char *path);
