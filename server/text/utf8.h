// How much of a byte run is one well-formed UTF-8 character (RFC 3629: no surrogates, no overlong forms).
#pragma once

#include "proto/bytes.h"

struct utf8_step {
    uint8_t size;   // bytes to take, 1 to 4
    bool is_valid;  // false: these bytes stand for one U+FFFD
};

// The character at the start of `text` (not empty). An ill-formed sequence is taken up to its maximal valid part.
struct utf8_step utf8_next(const uint8_t *text, size_t size);

// Whether `raw`, as clients see it (each broken sequence as one U+FFFD), is `asked`: names come back from clients that
// way. What is well formed must be equal byte for byte.
bool utf8_same_text(struct bytes raw, const char *asked);
