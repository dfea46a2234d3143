#include "analysis/advice/heap_packing.h"

#include <stdlib.h>

#include "analysis/base/growing_array.h"

#define MOST_BYTES (INT64_MAX / 2)

struct block {
    int64_t size_bytes, id;
    uint32_t first_stay, last_stay;  // of a list through next_stay
    uint32_t own_steps, all_steps;   // of the buffer itself, of all that share its bytes
};

struct chunk {
    int64_t offset, end;
};

struct packer {
    const struct hlo_module *module;
    struct arena *arena;
    const struct heap_stay *stays;  // by start_step
    uint32_t stay_count;
    int64_t alignment_bytes;
    struct block *blocks;
    uint32_t block_count;
    uint32_t *next_stay;   // of the same block, or HLO_NONE
    uint32_t *latest_end;  // a tree over the stays: where the last of the placed ones below a node ends; 0: none
    uint32_t leaf_count;   // a power of two
    int64_t *offset_of_stay;
    struct chunk *neighbours;
    uint32_t neighbour_count;
    int64_t visits;
    int64_t total_bytes;
};

// --- Blocks of stays ---

static void add_stay(struct packer *p, const struct heap_replay *replay, uint32_t stay, uint32_t block) {
    const struct heap_stay *s = &p->stays[stay];
    struct block *b = &p->blocks[block];
    p->next_stay[stay] = HLO_NONE;
    if (b->first_stay == HLO_NONE) {
        const struct heap_span *span = &replay->spans[s->span];
        b->first_stay = stay;
        b->own_steps = span->own_end_step - s->start_step;
    } else {
        p->next_stay[b->last_stay] = stay;
    }
    b->last_stay = stay;
    b->all_steps = s->end_step - p->stays[b->first_stay].start_step;
}

static void make_blocks(struct packer *p, const struct heap_replay *replay, uint32_t *block_of_root) {
    const struct hlo_module *module = p->module;
    memset(block_of_root, 0xff, module->buffer_count * sizeof *block_of_root);
    for (uint32_t i = 0; i < p->stay_count; i++) {
        const struct hlo_buffer *root = &module->buffers[p->stays[i].root];
        uint32_t *block = &block_of_root[p->stays[i].root];
        if (root->size_bytes <= 0) continue;
        if (*block == HLO_NONE) {
            *block = p->block_count++;
            p->blocks[*block] = (struct block){.size_bytes = root->size_bytes, .id = root->id, .first_stay = HLO_NONE};
        }
        add_stay(p, replay, i, *block);
    }
}

static int by_id(const struct block *a, const struct block *b) {
    return (a->id > b->id) - (a->id < b->id);
}

static int by_size(const void *left, const void *right) {
    const struct block *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return (a->size_bytes < b->size_bytes) - (a->size_bytes > b->size_bytes);
    if (a->own_steps != b->own_steps) return (a->own_steps < b->own_steps) - (a->own_steps > b->own_steps);
    return by_id(a, b);
}

static int by_duration(const void *left, const void *right) {
    const struct block *a = left, *b = right;
    if (a->all_steps != b->all_steps) return (a->all_steps < b->all_steps) - (a->all_steps > b->all_steps);
    if (a->size_bytes != b->size_bytes) return (a->size_bytes < b->size_bytes) - (a->size_bytes > b->size_bytes);
    return by_id(a, b);
}

static int by_start(const void *left, const void *right) {
    const struct block *a = left, *b = right;
    return (a->first_stay > b->first_stay) - (a->first_stay < b->first_stay);
}

static int (*const comparisons[])(const void *, const void *) = {
    [HEAP_PROGRAM_ORDER] = by_start,
    [HEAP_LARGEST_FIRST] = by_size,
    [HEAP_LONGEST_FIRST] = by_duration,
};

// --- Who lies there already ---

static void mark_placed(struct packer *p, uint32_t stay) {
    uint32_t end = p->stays[stay].end_step;
    for (uint32_t node = p->leaf_count + stay; node && p->latest_end[node] < end; node /= 2) p->latest_end[node] = end;
}

// Stays that start before `step`.
static uint32_t count_before(const struct packer *p, uint32_t step) {
    uint32_t low = 0, high = p->stay_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->stays[middle].start_step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The placed stays among those below `node`, of which the first is `first`, that start before stay `limit` does and end
// after `start_step`.
static bool visit_neighbours(struct packer *p, uint32_t node, uint32_t first, uint32_t width, uint32_t limit,
                             uint32_t start_step) {
    if (first >= limit || p->latest_end[node] <= start_step) return true;
    if (++p->visits > PACKING_VISITS_MAX) return false;
    if (width > 1)
        return visit_neighbours(p, 2 * node, first, width / 2, limit, start_step) &&
               visit_neighbours(p, 2 * node + 1, first + width / 2, width / 2, limit, start_step);
    int64_t offset = p->offset_of_stay[first], size = p->module->buffers[p->stays[first].root].size_bytes;
    return growing_array_add(p->arena, p->neighbours, p->neighbour_count, (struct chunk){offset, offset + size});
}

static bool find_neighbours(struct packer *p, const struct block *block) {
    p->neighbour_count = 0;
    for (uint32_t i = block->first_stay; i != HLO_NONE; i = p->next_stay[i]) {
        uint32_t limit = count_before(p, p->stays[i].end_step);
        if (!visit_neighbours(p, 1, 0, p->leaf_count, limit, p->stays[i].start_step)) return false;
    }
    return true;
}

// --- A place for one block ---

static int by_offset(const void *left, const void *right) {
    const struct chunk *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int64_t aligned(const struct packer *p, int64_t offset) {
    int64_t beyond = offset % p->alignment_bytes;
    return beyond ? offset + p->alignment_bytes - beyond : offset;
}

static int64_t best_offset(struct packer *p, int64_t size_bytes) {
    int64_t best = -1, best_gap = INT64_MAX, end = 0;
    if (p->neighbour_count > 1) qsort(p->neighbours, p->neighbour_count, sizeof *p->neighbours, by_offset);
    for (uint32_t i = 0; i < p->neighbour_count; i++) {
        int64_t gap = p->neighbours[i].offset - end;
        if (gap >= size_bytes && gap < best_gap) {
            best_gap = gap;
            best = end;
        }
        if (p->neighbours[i].end > end) end = aligned(p, p->neighbours[i].end);
    }
    return best < 0 ? end : best;
}

static bool place(struct packer *p, const struct block *block) {
    if (!find_neighbours(p, block)) return false;
    int64_t offset = best_offset(p, block->size_bytes);
    for (uint32_t i = block->first_stay; i != HLO_NONE; i = p->next_stay[i]) {
        p->offset_of_stay[i] = offset;
        mark_placed(p, i);
    }
    if (offset + block->size_bytes > p->total_bytes) p->total_bytes = offset + block->size_bytes;
    return true;
}

// --- All of them ---

// What the blocks from `first` on hold where they hold most; `change` has an entry for each step, all zero.
static int64_t peak_of_rest(const struct packer *p, uint32_t first, int64_t *change, uint32_t step_count) {
    int64_t live = 0, peak = 0;
    for (uint32_t b = first; b < p->block_count; b++) {
        for (uint32_t i = p->blocks[b].first_stay; i != HLO_NONE; i = p->next_stay[i]) {
            change[p->stays[i].start_step] += p->blocks[b].size_bytes;
            change[p->stays[i].end_step] -= p->blocks[b].size_bytes;
        }
    }
    for (uint32_t step = 0; step <= step_count; step++) {
        live += change[step];
        if (live > peak) peak = live;
    }
    return peak;
}

static bool start_empty(struct packer *p, struct arena *arena) {
    p->arena = arena;
    p->visits = p->total_bytes = 0;
    p->neighbours = NULL;
    p->neighbour_count = 0;
    p->latest_end = arena_new(arena, uint32_t, 2 * (size_t)p->leaf_count);
    p->offset_of_stay = arena_push_raw(arena, p->stay_count, sizeof *p->offset_of_stay);
    for (uint32_t i = 0; p->offset_of_stay && i < p->stay_count; i++) p->offset_of_stay[i] = HEAP_UNPLACED;
    return p->latest_end && p->offset_of_stay;
}

static bool pack_in_order(struct packer *p, uint32_t step_count, enum heap_order order, struct arena *arena,
                          struct heap_packing *packing) {
    uint32_t placed = 0;
    if (!start_empty(p, arena)) return false;
    if (p->block_count) qsort(p->blocks, p->block_count, sizeof *p->blocks, comparisons[order]);
    while (placed < p->block_count && place(p, &p->blocks[placed])) placed++;
    int64_t total = p->total_bytes;
    if (placed < p->block_count) {
        int64_t *change = arena_new(arena, int64_t, (size_t)step_count + 1);
        if (!change) return false;
        total = aligned(p, total) + peak_of_rest(p, placed, change, step_count);
    }
    *packing = (struct heap_packing){.total_bytes = total,
                                     .offset_of_stay = p->offset_of_stay,
                                     .unplaced_blocks = p->block_count - placed,
                                     .visits = p->visits};
    return true;
}

static bool make_columns(struct packer *p, const struct heap_replay *replay, struct arena *arena) {
    uint32_t *block_of_root = arena_push_raw(arena, p->module->buffer_count, sizeof *block_of_root);
    p->blocks = arena_push_raw(arena, p->stay_count, sizeof *p->blocks);
    p->next_stay = arena_push_raw(arena, p->stay_count, sizeof *p->next_stay);
    for (p->leaf_count = 1; p->leaf_count < p->stay_count;) p->leaf_count *= 2;
    if (!block_of_root || !p->blocks || !p->next_stay) return false;
    make_blocks(p, replay, block_of_root);
    return true;
}

// No offset overflows when all blocks on top of each other do not.
static bool can_be_summed(const struct packer *p) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->block_count; i++) {
        int64_t size = p->blocks[i].size_bytes;
        if (size > MOST_BYTES - p->alignment_bytes || sum > MOST_BYTES - p->alignment_bytes - size) return false;
        sum += size + p->alignment_bytes;
    }
    return true;
}

bool heap_packing_run(const struct hlo_module *module, const struct heap_replay *replay, enum heap_order order,
                      int64_t alignment_bytes, struct arena *arena, struct heap_packing *packing, struct error *error) {
    struct packer p = {
        .module = module, .stays = replay->stays, .stay_count = replay->stay_count, .alignment_bytes = alignment_bytes};
    *packing = (struct heap_packing){0};
    if (!make_columns(&p, replay, arena))
        return error_set(error, ERROR_TOO_BIG, "no memory left to pack %u buffers", p.stay_count);
    if (!can_be_summed(&p)) return error_set(error, ERROR_MALFORMED, "the temporaries hold more than 2^62 bytes");
    if (!pack_in_order(&p, replay->step_count, order, arena, packing))
        return error_set(error, ERROR_TOO_BIG, "no memory left to pack %u buffers", p.stay_count);
    return true;
}
