#include "analysis/advice/scoped_blocks.h"

#include "analysis/advice/module_scope.h"

static struct bytes scope_of_span(const struct advisor *advisor, uint32_t span) {
    const struct hlo_buffer *buffer = &advisor->module->buffers[advisor->what_if.replay.spans[span].buffer];
    return module_scope_of(advisor->graph.nodes[buffer->instruction].op_name);
}

static struct scoped_block *find(struct scoped_blocks *found, struct bytes path) {
    uint32_t i = 0;
    while (i < found->count && !bytes_equal(found->blocks[i].path, path)) i++;
    return i < found->count ? &found->blocks[i] : NULL;
}

static void add(struct scoped_blocks *found, struct bytes path, const struct heap_span *span, int64_t bytes) {
    struct scoped_block *block = find(found, path);
    found->bytes += (double)bytes;
    if (!block && found->count == SCOPES_MAX) return;
    if (!block) {
        block = &found->blocks[found->count++];
        *block = (struct scoped_block){.path = path, .first_start = span->start_step};
    }
    if (span->start_step > block->last_start) block->last_start = span->start_step;
    if (bytes > block->largest_bytes) block->largest_bytes = bytes;
    block->kept_count++;
    block->kept_bytes += (double)bytes;
}

void scoped_blocks_find(const struct advisor *advisor, const struct residuals *residuals, struct scoped_blocks *found) {
    enum { STATISTIC_DIVISOR = 128 };
    const struct heap_replay *replay = &advisor->what_if.replay;
    *found = (struct scoped_blocks){.count = 0};
    for (uint32_t i = 0; i < replay->span_count; i++) {
        struct bytes path = residuals_has(residuals, i) ? scope_of_span(advisor, i) : (struct bytes){0};
        int64_t bytes = advisor->module->buffers[replay->spans[i].buffer].size_bytes;
        if (path.size) add(found, path, &replay->spans[i], bytes);
    }
    for (uint32_t i = 0; i < replay->span_count; i++) {  // in order of their first events
        struct bytes path = residuals_has(residuals, i) ? scope_of_span(advisor, i) : (struct bytes){0};
        struct scoped_block *block = path.size ? find(found, path) : NULL;
        int64_t bytes = advisor->module->buffers[replay->spans[i].buffer].size_bytes;
        if (block && bytes >= block->largest_bytes / STATISTIC_DIVISOR) block->end_bytes = bytes;
    }
}

const struct scoped_block *scoped_blocks_of(const struct advisor *advisor, const struct scoped_blocks *found,
                                            uint32_t span) {
    struct bytes path = scope_of_span(advisor, span);
    for (uint32_t i = 0; i < found->count && path.size; i++) {
        if (bytes_equal(found->blocks[i].path, path)) return &found->blocks[i];
    }
    return NULL;
}
