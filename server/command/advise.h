// `hbmview advise`: finds the program, asks analysis/advice, prints.
#pragma once

#include "server/options.h"

// Runs the command; `arguments` come after its name.
enum exit_code advise_run(int count, char *const arguments[]);
