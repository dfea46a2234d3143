// The serving command: `hbmview [--logdir=DIR] [--port=N] ...`, until SIGINT or SIGTERM.
#pragma once

#include "server/options.h"

// Runs the command with its arguments (without the program's name).
enum exit_code serve_run(int count, char *const arguments[]);
