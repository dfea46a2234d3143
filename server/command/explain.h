// `hbmview explain [FILE|-]`: see explain_options.c for its words.
#pragma once

#include "server/options.h"

enum exit_code explain_run(int count, char *const arguments[]);
