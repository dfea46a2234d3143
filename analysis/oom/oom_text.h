// A log made fit to be read for messages: only the words, each process's lines together.
//
//     raw      ESC[31m[rank0]: Ran out of ...\r\n[rank1]: Ran out of ...\n[rank0]:     program  12.0K
//     decoded  without colours, NUL and control bytes, box drawing; the escapes of JSON and repr ("\n", "\"") undone
//     text     Ran out of ...\n    program  12.0K\n | Ran out of ...\n
//              ^ lines of one source in their order     ^ sources in the order in which they first speak
//
// A line without a label belongs to the one before it: it is the rest of a wrapped line. Blank lines are left out; the
// last line keeps having no line's end when the log has none there, which is how a cut shows. The text lives on the
// arena and is at most as long as the log, plus one byte.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

struct oom_line {
    uint32_t at;      // where it begins in the text
    uint32_t number;  // in the decoded log, from 1
};

struct oom_text {
    struct bytes text;
    struct oom_line *lines;  // ascending by `at`
    uint32_t line_count;
};

enum {
    OOM_LOG_BYTES_MAX = 256 << 20,
    OOM_LINES_ALWAYS = 1 << 17,  // may be in any log; in one of more bytes, one for each
    OOM_LINE_BYTES_MIN = 16,
};

// So many lines may be in a log of that size, and so many places where a message may begin: what is kept of each takes
// more than a short line does.
uint32_t oom_text_lines_max(size_t log_size);

// Says that the log takes more than the arena may; returns false.
bool oom_text_no_room(const struct arena *arena, struct error *error);

// ERROR_TOO_BIG: the log is longer than OOM_LOG_BYTES_MAX, has too many lines, or the arena is at its limit.
MUST_USE bool oom_text_read(struct bytes log, struct arena *arena, struct oom_text *text, struct error *error);

// The line that holds the byte at `at` of the text.
uint32_t oom_text_line(const struct oom_text *text, size_t at);
