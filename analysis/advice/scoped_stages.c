#include "analysis/advice/scoped_stages.h"

#include "analysis/advice/scoped_blocks.h"

// Many blocks, which keep nearly all, and several arrays each: a layer of one convolution is none.
static bool are_blocks(const struct advisor *advisor, const struct residuals *residuals,
                       const struct scoped_blocks *scopes) {
    enum { FEW = 4, ARRAYS_OF_A_BLOCK = 3 };
    const double nearly_all = 0.8;
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < scopes->count; i++) arrays += scopes->blocks[i].kept_count;
    bool is_told = scopes->bytes >= nearly_all * (double)residuals->dropped_bytes;
    bool are_many = scopes->count >= FEW && scopes->count < BLOCK_STAGES_MAX;
    return advisor->has_convolutions && !residuals->loop_length && is_told && are_many &&
           arrays >= ARRAYS_OF_A_BLOCK * scopes->count;
}

// Of a block, what the one before it ended with is kept; of the first, as much as it ends with itself.
static struct block_stage stage_of(const struct scoped_block *block, const struct scoped_block *before) {
    int64_t input = before ? before->end_bytes : block->end_bytes;
    return (struct block_stage){.first_start = block->first_start,
                                .last_start = block->last_start,
                                .blocks = 1,
                                .stream_bytes = input,
                                .kept_bytes = (double)input,
                                .dropped_bytes = block->kept_bytes};
}

// What no block has is kept as it is: it is put where it begins.
static struct block_stage rest_of(const struct advisor *advisor, const struct residuals *residuals,
                                  const struct scoped_blocks *scopes) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    struct block_stage rest = {.first_start = UINT32_MAX, .blocks = 1, .stays = true};
    for (uint32_t i = 0; i < replay->span_count; i++) {
        if (!residuals_has(residuals, i) || scoped_blocks_of(advisor, scopes, i)) continue;
        const struct heap_span *span = &replay->spans[i];
        if (span->start_step < rest.first_start) rest.first_start = span->start_step;
        rest.dropped_bytes += (double)advisor->module->buffers[span->buffer].size_bytes;
    }
    rest.kept_bytes = rest.dropped_bytes;
    return rest;
}

static void insert(struct block_stages *stages, struct block_stage stage) {
    uint32_t at = stages->count++;
    for (; at > 0 && stages->stages[at - 1].first_start > stage.first_start; at--)
        stages->stages[at] = stages->stages[at - 1];
    stages->stages[at] = stage;
}

void scoped_stages_find(const struct advisor *advisor, const struct residuals *residuals, struct block_stages *stages) {
    struct scoped_blocks scopes;
    scoped_blocks_find(advisor, residuals, &scopes);
    if (!are_blocks(advisor, residuals, &scopes)) return;
    *stages = (struct block_stages){.are_scoped = true, .blocks = scopes.count};
    for (uint32_t i = 0; i < scopes.count; i++)
        insert(stages, stage_of(&scopes.blocks[i], i ? &scopes.blocks[i - 1] : NULL));
    struct block_stage rest = rest_of(advisor, residuals, &scopes);
    if (rest.dropped_bytes > 0) insert(stages, rest);
}
