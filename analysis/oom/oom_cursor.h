// Reading a message that was wrapped: words are matched without their blanks.
//
//     pattern  "Ran out of memory in memory space"
//     log      "Ran out of mem|ory in|      memory space hb|m. Used 49.|34G of 3|2.00G hbm."     (| a line's end)
//               ^--------------------------------------^ taken
//
// A terminal or a logger may break a line anywhere, also inside a word or a number, and indent what follows; so blanks
// count neither in the pattern nor in the text, and letters match in either case. A run of more than OOM_BLANKS_MAX
// blanks is the end of a message. A cursor is a view, passed by address, moved only by what succeeds.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

enum { OOM_BLANKS_MAX = 1024 };

struct oom_cursor {
    const uint8_t *at, *end;
};

static inline bool oom_is_blank(uint8_t c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline bool oom_is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

static inline uint8_t oom_lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

static inline bool oom_is_letter(uint8_t c) {
    return oom_lower(c) >= 'a' && oom_lower(c) <= 'z';
}

// The place of the next byte that is no blank; the end when there is none near.
const uint8_t *oom_past_blanks(const uint8_t *at, const uint8_t *end);

// Steps over `words`.
bool oom_take(struct oom_cursor *cursor, const char *words);

// Steps over the first of `words` that comes next with `behind` after it. NULL: none does.
const char *oom_take_any(struct oom_cursor *cursor, const char *const *words, size_t count, const char *behind);

// Whether `words` come next.
bool oom_sees(struct oom_cursor cursor, const char *words);

// Steps behind the first `words` that begin within the next `window` bytes.
bool oom_find(struct oom_cursor *cursor, const char *words, size_t window);

// The same cursor, ending at most `window` bytes ahead.
struct oom_cursor oom_near(struct oom_cursor cursor, size_t window);

// The text from one place to another, its broken lines joined without a blank. NULL at the arena's limit.
const char *oom_join_lines(const uint8_t *from, const uint8_t *to, struct arena *arena);

// A name: letters, digits and the bytes of `also`, a line's end inside it left out. It must end at one of the bytes of
// `stops`, which must itself be followed by a blank, a quote or the end when it is a full stop; a name that the end of
// the text cuts is none. Steps behind the stop. NULL: there is none, or no memory.
const char *oom_take_name(struct oom_cursor *cursor, const char *also, const char *stops, struct arena *arena);

// A known memory space, "hbm"; NULL: there is none.
const char *oom_take_known_space(struct oom_cursor *cursor);

// The same, or any other word in small letters on this line that the line goes on behind.
// NULL: there is none.
const char *oom_take_space(struct oom_cursor *cursor, struct arena *arena);
