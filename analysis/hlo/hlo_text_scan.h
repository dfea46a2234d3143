// Reading a text of a dump: line by line, and inside a line piece by piece from the left (text_scan.h). Private to
// hlo_text_*.
//
//     struct text_lines lines = text_lines_open(&file);
//     for (struct bytes line; text_lines_next(&lines, &line);)
//         if (!text_take(&line, BYTES("allocation ")) || !text_take_int64(&line, &index)) return text_lines_fault(...);
//
// Views into the text; allocates nothing but unescaped strings. A line may be as long as the text.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/base/text_scan.h"
#include "analysis/hlo/hlo_text_files.h"

struct text_lines {
    const struct hlo_text_file *file;
    size_t number;        // of the line that was read last, from 1
    size_t offset, next;  // where it starts, and where the one after it does
};

static inline struct text_lines text_lines_open(const struct hlo_text_file *file) {
    return (struct text_lines){.file = file};
}

// The next line, without its end. False after the last one.
bool text_lines_next(struct text_lines *lines, struct bytes *line);

// "line 37: expected ..."; the file, and the line's offset. A last line without its end is ERROR_TRUNCATED. False.
bool text_lines_fault(const struct text_lines *lines, const char *expected, struct error *error);

// XLA ends every line: a text whose last line has no end was cut. True for a text that is not there.
MUST_USE bool text_file_is_whole(const struct hlo_text_file *file, struct error *error);

// A text in (), {} or [] at the left, quotes and nested ones looked over; the brackets are taken, not returned. False
// when it does not close: whoever goes on from there, piece by piece, would look at the rest again and again.
bool text_is_bracket(struct bytes text);
bool text_take_brackets(struct bytes *text, struct bytes *inside);

// "..." at the left, as written between the quotes.
bool text_take_quoted(struct bytes *text, struct bytes *inside);

// Undoes absl::CEscape; the same view when there is nothing to undo. Empty at the arena's limit.
struct bytes text_unescape(struct bytes escaped, struct arena *arena);
