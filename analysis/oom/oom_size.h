// Sizes as messages write them, in bytes.
//
//     49.34G  530.00M  260.0K  0B  6.00MiB  2.5 GiB     a rounded value: bytes = round(49.34 x 2^30)
//     107374182400                                      exact, and whole only when a known word follows it
//
// A log may be cut anywhere: "17.3" of "17.34G" must not become a number. So a size counts when its unit is there, and
// bare digits only when what the message has behind them is there too. Digits may be split by a line's end ("49.|34G").
// K, M, G, T, P and their KB, KiB, ... are powers of 1024, as XLA's HumanReadableNumBytes means them.
#pragma once

#include "analysis/oom/oom_cursor.h"

// Each of these leaves the cursor and the figure as they are when it returns false.

// Steps over a size with a unit.
bool oom_take_size(struct oom_cursor *cursor, int64_t *bytes);

// Steps over a size with a unit or bare bytes, and the words that must follow it.
bool oom_take_size_before(struct oom_cursor *cursor, const char *words, int64_t *bytes);

// Steps over whole bare digits ("55" of source_line=55), which must not be the end of the text. A line's end inside
// them is stepped over when `is_wrapped`.
bool oom_take_digits(struct oom_cursor *cursor, bool is_wrapped, int64_t *number);

// A percentage: "97.5%".
bool oom_take_percent(struct oom_cursor *cursor, double *percent);
