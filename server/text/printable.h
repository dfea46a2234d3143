// Text from a profile made fit for a terminal: valid UTF-8 without control characters, so that a name can neither break
// a table nor drive the terminal.
#pragma once

#include "analysis/base/arena.h"

// NUL-terminated on `arena`; "" at its limit. What is broken or a control character becomes U+FFFD.
const char *printable_text(struct bytes text, struct arena *arena);

// How many columns a printable text takes: one for each character.
size_t printable_width(const char *text);

// The text in at most `width` columns: a longer one loses its middle to "…". On `arena`.
const char *printable_shorten(const char *text, size_t width, struct arena *arena);
