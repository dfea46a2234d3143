// Sizes as people write and read them: "52.93 GiB", "512 B". Units are powers of 1024.
#pragma once

#include "analysis/base/arena.h"

enum { SIZE_TEXT_BYTES = 24 };

// Writes into `text`, returns it. Two decimals from KiB on; the unit is the largest that leaves a number below 1024.
const char *size_text(int64_t bytes, char text[SIZE_TEXT_BYTES]);

// The same on `arena`; "" at its limit.
const char *size_string(int64_t bytes, struct arena *arena);

// With the bytes behind where the text rounds them: "186.50 KiB (190976 bytes)". On `arena`, "" at its limit.
const char *size_exact_string(int64_t bytes, struct arena *arena);

// Reads what a person gave: "15.75G", "16GiB", "16 gb", "1,5 MiB", "17179869184". K, M, G, T and P may have iB or B
// behind them, in any case, with or without a blank before. False: it is no such size, below a byte, or too big.
bool size_text_read(const char *text, int64_t *bytes);
