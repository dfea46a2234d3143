#include "analysis/advice/scoped_blocks.h"

enum { SCOPES_MAX = 256 };

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

// "layer_0", not "T5".
static bool ends_with_number(struct bytes name) {
    size_t at = name.size;
    while (at > 0 && is_digit(name.data[at - 1])) at--;
    return at > 0 && at < name.size && name.data[at - 1] == '_';
}

// Up to the end of the first part that has a digit, behind the transformations, or in them as haiku's modules of no
// other are, jvp(layer_0)/fc1; empty: there is none.
static struct bytes scope_of(struct bytes op_name) {
    size_t at = bytes_find(op_name, BYTES("jvp(")), from = at + BYTES("jvp(").size;
    bool has_number = false;
    while (at < op_name.size && op_name.data[at] != '/') at++;
    bool is_closed = at > from && at < op_name.size && op_name.data[at - 1] == ')';
    if (is_closed && ends_with_number((struct bytes){op_name.data + from, at - 1 - from}))
        return (struct bytes){op_name.data, at};
    for (size_t i = at + 1; i < op_name.size; i++) {
        if (op_name.data[i] == '/' && has_number) return (struct bytes){op_name.data, i};
        has_number |= is_digit(op_name.data[i]);
    }
    return (struct bytes){op_name.data, 0};
}

static void add(struct bytes *scopes, uint32_t *count, struct bytes path) {
    uint32_t i = 0;
    while (i < *count && !bytes_equal(scopes[i], path)) i++;
    if (i == *count && i < SCOPES_MAX) scopes[(*count)++] = path;
}

struct scoped_blocks scoped_blocks_find(const struct advisor *advisor, const struct residuals *residuals) {
    struct bytes scopes[SCOPES_MAX];
    struct scoped_blocks found = {.count = 0};
    for (uint32_t i = 0; i < advisor->what_if.replay.span_count; i++) {
        if (!residuals_has(residuals, i)) continue;
        const struct hlo_buffer *buffer = &advisor->module->buffers[advisor->what_if.replay.spans[i].buffer];
        struct bytes path = scope_of(advisor->graph.nodes[buffer->instruction].op_name);
        if (!path.size) continue;
        add(scopes, &found.count, path);
        found.bytes += (double)buffer->size_bytes;
    }
    return found;
}
