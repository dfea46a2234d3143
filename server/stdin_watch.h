// Ends with whoever started the program: `--exit_with_stdin`.
//
//     starter (a notebook's Python) ──pipe──> stdin of hbmview
//           └ ends, even by kill -9: the system closes its end ──> read() gives 0 ──> SIGTERM, as from a user
//
//           └ ends, even by kill -9: the system closes its end ──> read() gives 0 ──> SIGTERM, as by hand
// What comes through stdin is thrown away. One detached thread, which sleeps until there is something to read.
#pragma once

#include <stdbool.h>

// To be called when SIGTERM has been blocked for all threads. False: there is no thread left.
bool stdin_watch_begin(void);
