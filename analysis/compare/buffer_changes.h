// What became of each buffer, from one peak to another.
//
//     lost      fusion.14   192.00 MiB                         -192.00 MiB
//     grown     fusion.15    16.00 MiB  fusion.29  32.00 MiB    +16.00 MiB
//     renamed   fusion.16     4.00 MiB  fusion.30   4.00 MiB             0    other name, same bytes
//     gained                            copy.3      1.00 MiB     +1.00 MiB
//
// What is the same under the same name is no change, so a program has none against itself. The deltas sum to the
// difference of the two peaks, to the byte.
//
// Where outputs are gone (or new) and as many arguments of their shape became donated (or are no longer), the outputs
// live in the arguments' bytes: they became aliases, and are counted as such.
#pragma once

#include "analysis/compare/buffer_pairs.h"

enum buffer_change_kind { CHANGE_GAINED, CHANGE_LOST, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_RENAMED, CHANGE_KIND_COUNT };

const char *buffer_change_name(enum buffer_change_kind kind);  // "gained"

struct buffer_change {
    enum buffer_change_kind kind;
    uint32_t a, b;  // of compared_buffers; UNPAIRED where it is not
    int64_t delta_bytes;
    bool is_alias;  // an output whose bytes are a donated argument's on the other side
};

struct buffer_changes {
    struct compared_buffers a, b;
    struct string_table words;
    struct buffer_change *rows;  // the largest difference first
    uint32_t row_count;
    uint32_t unchanged_count;
    int64_t unchanged_bytes;
    uint32_t renamed_count;
    int64_t renamed_bytes;
    // Outputs that became aliases of donated arguments, and the way back.
    uint32_t aliased_count, unaliased_count;
    int64_t aliased_bytes, unaliased_bytes;
    struct buffer_pairs pairs;
};

// False at the arena's limit.
MUST_USE bool buffer_changes_find(const struct compared_side *a, const struct compared_side *b, struct arena *arena,
                                  struct buffer_changes *changes);

// The word that a buffer has; empty for none.
static inline struct bytes buffer_changes_word(const struct buffer_changes *changes, uint32_t word) {
    return changes->words.texts[word];
}
