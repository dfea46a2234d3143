// Sizes for people: "52.93 GiB", "512 B".
#pragma once

#include <stdint.h>

enum { SIZE_TEXT_BYTES = 24 };

// Writes into `text`, returns it. Two decimals from KiB on; the unit is the largest that leaves a number below 1024.
const char *size_text(int64_t bytes, char text[SIZE_TEXT_BYTES]);
