// A string that grows on an arena: for texts made by the thousand, where printf would be the slowest part.
//
// A zeroed writer with an arena is empty. When the arena is at its limit the writer remembers that it failed and
// ignores the rest; text_writer_finish then returns NULL. What it outgrows stays in the arena until that goes.
#pragma once

#include "analysis/base/arena.h"

struct text_writer {
    struct arena *arena;
    char *data;
    size_t size, capacity;
    bool has_failed;
};

void text_put_bytes(struct text_writer *writer, struct bytes text);
void text_put_int64(struct text_writer *writer, int64_t value);

static inline void text_put(struct text_writer *writer, const char *text) {
    text_put_bytes(writer, bytes_of(text));
}

// The NUL-terminated text, or NULL.
const char *text_writer_finish(struct text_writer *writer);

// The same with its size; no text where it found no memory.
struct bytes text_writer_bytes(struct text_writer *writer);
