// `hbmview report PATH --sessions`: what there is to report on, for scripts that share the work among machines.
//
//     catalog ──> name, path, time, version of each session     (no file is opened, but one that may be unfinished)
//
// A path is one that any command takes, so a session is found again without a look at its neighbours. The version
// changes with the session's files (session_stamp.h). Time is what the name begins with, else that of the last change.
// Device memory profiles of no session are told apart; so is what is still being written, and what was left out.
#pragma once

#include "server/command/report_sessions.h"

// JSON, CSV, or a table as text or Markdown. What cannot be read, or is not there, is among the report's errors.
void report_session_list_write(struct report *report);
