#include "server/text/output.h"

#include <string.h>

#include "analysis/base/large_block.h"

// Grows fast, as copying costs and what is kept is trimmed; but what is reserved counts, touched or not.
enum { OUTPUT_FIRST_BYTES = 4096, GROWTH = 4 };

void output_init(struct output *output, size_t limit_bytes) {
    *output = (struct output){.limit_bytes = limit_bytes};
}

void output_free(struct output *output) {
    large_block_free(output->data, output->capacity);
    *output = (struct output){.limit_bytes = output->limit_bytes};
}

void output_trim(struct output *output) {
    if (output->size == 0 || output->size == output->capacity) return;
    char *data = large_block_shrink(output->data, output->capacity, output->size);
    if (!data) return;
    output->data = data;
    output->capacity = output->size;
}

static bool move_to(struct output *output, size_t capacity) {
    char *data = large_block_new(capacity);
    if (!data) return false;
    if (output->data) memcpy(data, output->data, output->size);
    large_block_free(output->data, output->capacity);
    output->data = data;
    output->capacity = capacity;
    return true;
}

char *output_grow(struct output *output, size_t size) {
    size_t capacity = output->capacity ? output->capacity : OUTPUT_FIRST_BYTES;
    if (output->failed) return NULL;
    output->failed = size > output->limit_bytes || output->size > output->limit_bytes - size;
    while (!output->failed && capacity < output->size + size) capacity *= GROWTH;
    if (capacity > output->limit_bytes) capacity = output->limit_bytes;  // so that what fits is within the limit, too
    if (!output->failed) output->failed = !move_to(output, capacity);
    return output->failed ? NULL : output->data + output->size;
}

void output_append(struct output *output, struct bytes text) {
    if (text.size == 0) return;
    char *to = output_reserve(output, text.size);
    if (!to) return;
    memcpy(to, text.data, text.size);
    output->size += text.size;
}

void output_append_char(struct output *output, char c) {
    char *to = output_reserve(output, 1);
    if (!to) return;
    *to = c;
    output->size++;
}

void output_put(struct output *output, const char *text) {
    if (text) output_append(output, bytes_of(text));
}
