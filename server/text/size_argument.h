// Sizes as people give them on a command line: "16GiB", "1.5 GiB", "512MiB", "1073741824".
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Units are B, KiB, MiB, GiB and TiB in any case, with or without a blank before; none means bytes. False: it is no
// such size, or too big.
bool size_argument_read(const char *text, int64_t *bytes);
