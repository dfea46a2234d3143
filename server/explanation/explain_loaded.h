// The programs of a session that may be loaded together with one that found no room (0101): oom_loaded.h.
//
//     "Error loading program 'jit_eval'" --> its session and host --> all programs of that host, their totals
//
// The session is the joined program's, else the one that was asked for by name (the program that failed may be in no
// profile); of it the joined program's host, else the first. What is loaded to look at a program is let go at once, and
// with the time of the search (EXPLAIN_SEARCH_MS) the reading ends: what is unread is counted.
#pragma once

#include "analysis/oom/oom_loaded.h"
#include "server/explanation/explain_join.h"

// Nothing for messages of another kind, or without a session: then `session` is NULL. On the work's arena.
void explain_loaded(struct explain_joins *joins, const struct oom_message *message, const struct explain_join *join,
                    struct oom_loaded *loaded);
