// A number for what there is: of a session, of all sessions. It changes when a file of theirs comes, goes, is replaced,
// rewritten or grows, and when a session comes, goes or is complete; not when other files come to lie beside them.
#pragma once

#include "analysis/input/catalog.h"

uint64_t session_stamp(const struct catalog_session *session);

// Of the sessions, the device memory profiles, and what is still being written.
uint64_t catalog_stamp(const struct catalog *catalog);
