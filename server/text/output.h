// A growing run of bytes: what a reply is written into before it is sent or kept.
//
// One growing block with a limit. Appending never fails loudly: past the limit, or out of memory, the output turns
// `failed` and swallows the rest, so that writers need no check at each call; whoever finishes the output asks once.
#pragma once

#include "proto/bytes.h"

enum { OUTPUT_LIMIT_BYTES = 1 << 30 };  // of one reply body: far above the largest honest one (tens of MB)

struct output {
    char *data;
    size_t size;
    size_t capacity;
    size_t limit_bytes;
    bool failed;
};

void output_init(struct output *output, size_t limit_bytes);
void output_free(struct output *output);

// Gives back what was reserved ahead, for outputs that are kept.
void output_trim(struct output *output);

// Room for `size` more bytes where there is none yet: the slow half of output_reserve.
char *output_grow(struct output *output, size_t size);

// Room for `size` more bytes, to be filled at the returned place and then counted with output_advance. NULL when
// failed.
static inline char *output_reserve(struct output *output, size_t size) {
    bool has_room = !output->failed && output->data && size <= output->capacity - output->size;
    return has_room ? output->data + output->size : output_grow(output, size);
}

static inline void output_advance(struct output *output, size_t size) {
    output->size += size;
}

void output_append(struct output *output, struct bytes text);
void output_append_char(struct output *output, char c);

// The same for a constant, or what was made on an arena: NULL, which found no memory there, is left out.
void output_put(struct output *output, const char *text);

static inline struct bytes output_bytes(const struct output *output) {
    return (struct bytes){(const uint8_t *)output->data, output->size};
}
