#include "analysis/advice/blocks_again.h"

#include <math.h>

// Of what a block keeps, the gradients that wait while it runs again, where today those of all blocks wait for the end:
// as they come, what is inside goes.
#define WAITING_OF_LAST 0.3
// The same of a block by name, which has what it keeps itself: eleven networks were within 18 % so.
#define WAITING_OF_NAMED 0.5

static const struct heap_replay *replay_of(const struct advisor *advisor) {
    return &advisor->what_if.replay;
}

// Where a loop's backward pass begins: only from there on a block runs again. 0 without loops.
static uint32_t first_step_again(const struct advisor *advisor, const struct residuals *residuals) {
    uint32_t first = UINT32_MAX, home = HLO_NONE;
    const struct heap_replay *replay = replay_of(advisor);
    for (uint32_t i = 0; i < replay->span_count; i++) {
        uint32_t node = advisor->module->buffers[replay->spans[i].buffer].instruction;
        if (residuals_has(residuals, i) && residuals->groups[residuals->group_of_span[i]].is_stacked)
            home = advisor->graph.nodes[node].computation;
    }
    for (uint32_t i = 0; home != HLO_NONE && i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        uint32_t node = advisor->module->buffers[span->buffer].instruction;
        if (node == HLO_NONE || span->start_step < advisor->phases.turn_step || span->start_step >= first) continue;
        if (advisor->phases.of_node[node] == PHASE_BACKWARD && advisor->graph.nodes[node].computation != home)
            first = span->start_step;
    }
    return first == UINT32_MAX ? 0 : first;
}

// Of all blocks `live` bytes are left: is that a whole number of blocks, so that none is half through its backward
// pass?
static bool is_at_border(double live, double one) {
    const double nearly = 0.1;
    double blocks = one > 0 ? live / one : 0;
    return fabs(blocks - round(blocks)) < nearly;
}

// Gradients of what blocks keep, which wait for the products that make weights' gradients of them: a schedule that has
// room makes those last. A block that runs again is done with before the next one begins.
static bool is_waiting(const struct advisor *advisor, const struct residuals *residuals, uint32_t span) {
    const struct heap_span *one = &replay_of(advisor)->spans[span];
    uint32_t node = advisor->module->buffers[one->buffer].instruction, leaf = advisor_leaf(advisor, one->buffer);
    bool is_later = one->start_step >= advisor->phases.turn_step && node != HLO_NONE && leaf != HLO_NONE;
    if (!is_later || residuals->loop_length || !advisor->batch.marks[leaf]) return false;
    return advisor->phases.of_node[node] == PHASE_BACKWARD &&
           residuals_has_as_large(residuals, &advisor->graph.leaves[leaf]);
}

// Do the gradients that wait do so for longer than a block's backward pass takes, by their bytes and steps?
static bool wait_for_the_end(const struct advisor *advisor, const struct blocks *blocks) {
    const double most = 0.75;
    const struct heap_replay *replay = replay_of(advisor);
    double long_bytes = 0, all_bytes = 0;
    double steps_of_one = (double)(replay->step_count - advisor->phases.turn_step) / fmax(blocks->stages.blocks, 1);
    for (uint32_t i = 0; advisor->is_for_gpu && i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        if (!is_waiting(advisor, &blocks->residuals, i)) continue;
        double steps = span->end_step - span->start_step;
        double bytes = steps * (double)advisor->module->buffers[span->buffer].size_bytes;
        all_bytes += bytes;
        if (steps > 1.5 * steps_of_one) long_bytes += bytes;
    }
    return long_bytes > most * all_bytes;
}

typedef bool is_counted(const struct advisor *advisor, const struct residuals *residuals, uint32_t span);

static bool is_dropped(const struct advisor *advisor, const struct residuals *residuals, uint32_t span) {
    (void)advisor;
    return residuals_has(residuals, span);
}

// Bytes of such arrays that each step begins with, less those it ends with; NULL at the arena's limit.
static int64_t *bytes_by_step(const struct advisor *advisor, const struct residuals *residuals, is_counted *counts) {
    const struct heap_replay *replay = replay_of(advisor);
    int64_t *bytes = arena_new(advisor->arena, int64_t, (size_t)replay->step_count + 2);
    for (uint32_t i = 0; bytes && i < replay->span_count; i++) {
        if (!counts(advisor, residuals, i)) continue;
        const struct heap_span *span = &replay->spans[i];
        int64_t size = advisor->module->buffers[span->buffer].size_bytes;
        bytes[span->start_step + 1] += size;
        bytes[span->end_step + 1 <= replay->step_count ? span->end_step + 1 : replay->step_count + 1] -= size;
    }
    return bytes;
}

// Of all blocks `live` bytes are left: which stage is at work, and what do those before it hold?
struct at_work {
    const struct block_stage *stage;
    double live;         // of the stage
    double kept_before;  // instead of what the stages before it dropped
};

static struct at_work stage_at_work(const struct block_stages *stages, double live) {
    struct at_work work = {0};
    for (uint32_t s = 0; s < stages->count; s++) {
        if (work.stage) work.kept_before += work.stage->kept_bytes;
        work.stage = &stages->stages[s];
        work.live = live;
        if (live <= work.stage->dropped_bytes) break;
        live -= work.stage->dropped_bytes;
    }
    return work;
}

double blocks_again_inside(const struct block_stage *stage, double at_once) {
    double inside = stage->stays ? 0 : (stage->dropped_bytes - stage->saved_bytes) / stage->blocks;
    return inside > 0 ? at_once * inside : 0;
}

// What is held instead of `live` bytes of dropped arrays.
static double held_instead(const struct blocks *blocks, double live, bool is_between, bool may_rest) {
    struct at_work work = stage_at_work(&blocks->stages, live);
    if (!work.stage || live <= 0) return 0;
    double whole = work.stage->dropped_bytes, part = work.live < whole ? work.live / whole : 1;
    bool is_resting = may_rest && is_at_border(work.live, whole / work.stage->blocks);
    double inside = is_between || is_resting ? 0 : blocks_again_inside(work.stage, blocks->at_once);
    double left = blocks->stages.are_scoped ? work.live : live;
    return work.kept_before + work.stage->kept_bytes * part + (inside < left ? inside : left);
}

// Where blocks are alike (pictures shrink): what waits while the last one, whose backward pass comes first, still keeps
// something. No more waits for any other when it runs again.
static double waiting_for_last(const struct advisor *advisor, const struct blocks *blocks) {
    const struct block_stage *stage = &blocks->stages.stages[0];
    int64_t live = 0, waiting = 0, most = 0;
    if (blocks->stages.count != 1 || advisor->has_convolutions) return 0;
    double of_others = (double)blocks->residuals.dropped_bytes - stage->dropped_bytes / stage->blocks;
    for (uint32_t step = 0; step <= replay_of(advisor)->step_count; step++) {
        live += blocks->dropped[step];
        waiting += blocks->waiting[step];
        if ((double)live > of_others && waiting > most) most = waiting;
    }
    return (double)most;
}

// Of the gradients that wait, what is there besides those of one block: no more than it keeps, nor than waits for the
// last one.
static double waiting_beyond(const struct blocks *blocks, double live, double waiting) {
    struct at_work work = stage_at_work(&blocks->stages, live);
    double one = work.stage ? work.stage->dropped_bytes / work.stage->blocks : 0;
    if (blocks->is_last_of_all) one *= WAITING_OF_LAST;
    if (blocks->stages.are_scoped) one *= WAITING_OF_NAMED;
    if (blocks->waits_for_last > 0 && blocks->waits_for_last < one) one = blocks->waits_for_last;
    return one > 0 && waiting > one ? waiting - one : 0;
}

int64_t blocks_again_peak(const struct advisor *advisor, const struct blocks *blocks) {
    const struct heap_replay *replay = replay_of(advisor);
    uint32_t again = first_step_again(advisor, &blocks->residuals);
    int64_t live = 0, waiting = 0, peak = 0;
    double stream = (double)block_stages_stream_bytes(&blocks->stages);
    for (uint32_t step = 0; step <= replay->step_count; step++) {
        live += blocks->dropped[step];
        waiting += blocks->waiting[step];
        bool is_between = again ? step < again
                                : (double)live + stream > 0.999 * (double)blocks->residuals.dropped_bytes;
        bool may_rest = step > advisor->phases.turn_step && !blocks->dropped[step + 1];
        double then = (double)(replay->heap_bytes[step] - live) +
                      held_instead(blocks, (double)live, is_between, may_rest) -
                      waiting_beyond(blocks, (double)live, (double)waiting);
        if (what_if_bytes(then) > peak) peak = what_if_bytes(then);
    }
    return peak;
}

// At once, at most. More than blocks keep is no wait for their weights, but gradients of gradients, say: then nothing
// waits.
static int64_t settle_waiting(const struct advisor *advisor, const struct residuals *residuals, int64_t *change) {
    uint32_t step_count = replay_of(advisor)->step_count;
    int64_t now = 0, most = 0;
    for (uint32_t step = 0; step <= step_count; step++) {
        now += change[step];
        if (now > most) most = now;
    }
    if (most <= residuals->dropped_bytes) return most;
    memset(change, 0, ((size_t)step_count + 2) * sizeof *change);
    return 0;
}

bool blocks_again_find(const struct advisor *advisor, struct blocks *blocks) {
    int64_t *waiting = bytes_by_step(advisor, &blocks->residuals, is_waiting);
    blocks->dropped = bytes_by_step(advisor, &blocks->residuals, is_dropped);
    blocks->waiting = waiting;
    if (!blocks->dropped || !waiting) return false;
    blocks->waiting_bytes = settle_waiting(advisor, &blocks->residuals, waiting);
    blocks->is_last_of_all = wait_for_the_end(advisor, blocks);
    blocks->waits_for_last = waiting_for_last(advisor, blocks);
    return true;
}
