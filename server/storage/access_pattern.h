// What will be read next of an object, guessed from what was read: pure, asks nobody.
//
//     goes on     |####|####|        >>>> ahead >>>>       as far ahead as AHEAD_TIMES what was read in one go
//     expected    |####|>>>>>>>>>>>>>>>>>>>>>>>>>|         the reader said where it goes: at once, and no further
//     strides     #      #      ?      ?      ?            the heads of planes that are about as long as each other: a
//                 0    1000   2004   3008   4012           little around where the next ones should begin
//
// A head can only be asked for when the one before it has told its length, so walking twelve of them takes twelve round
// trips; guessing makes five of it. Guesses that turn out wrong are few: after GUESSES_WRONG_MAX no more strides are
// guessed. One reader, one pattern; not thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PATTERN_GAP_BYTES = 64 << 10,    // stepping over this much is still going on
    PATTERN_SLACK_BYTES = 32 << 10,  // by how much strides may differ
    PATTERN_STRIDE_BYTES_MIN = 1 << 20,
    PATTERN_STRIDES_MAX = 4,  // guessed ahead
    PATTERN_GUESSES_WRONG_MAX = 4,
    PATTERN_AHEAD_TIMES = 3,
};

struct access_range {
    uint64_t offset, size;
};

struct access_guesses {
    struct access_range ranges[PATTERN_STRIDES_MAX];
    size_t count;
};

struct access_pattern {
    uint64_t size_bytes;       // of the object
    uint64_t ahead_bytes_max;  // how far ahead to read
    uint64_t next;             // where the last read ended
    uint64_t run_bytes;        // read in one go, after the jump
    uint64_t asked_until;      // what of this run was guessed already
    struct access_range expected;
    uint64_t jumped_to, stride;
    uint64_t guessed_until;  // the last place a head was guessed at; 0: none
    unsigned strides, wrong;
};

struct access_pattern access_pattern_of(uint64_t size_bytes, uint64_t ahead_bytes_max);

// All of the range will be read, in order.
void access_pattern_expect(struct access_pattern *pattern, uint64_t offset, uint64_t size);

// Notes a read and says what to fetch ahead: ranges inside the object, none twice.
struct access_guesses access_pattern_note(struct access_pattern *pattern, uint64_t offset, uint64_t size);
