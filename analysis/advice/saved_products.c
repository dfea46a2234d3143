#include "analysis/advice/saved_products.h"

#include "analysis/advice/loop_steps.h"
#include "analysis/advice/weight_products.h"
#include "analysis/program/callers.h"

enum { KINDS_MAX = 64 };

struct kind {  // products of one shape
    const struct array_shape *shape;
    uint32_t count;
    double bytes;  // of one
};

static void add_product(const struct advisor *advisor, const struct weight_product *product,
                        struct kind kinds[KINDS_MAX], int *count) {
    const struct array_shape *shape = &advisor->graph.leaves[product->result];
    int at = 0;
    while (at < *count && !array_same_dimensions(kinds[at].shape, shape)) at++;
    if (at == KINDS_MAX) return;
    if (at == *count)
        kinds[(*count)++] = (struct kind){.shape = shape, .bytes = weight_product_bytes(advisor, product)};
    kinds[at].count++;
}

// The first or the last may lack it; one alone is of the head.
static bool is_of_blocks(const struct kind *kind, double blocks, bool is_looped) {
    return is_looped || (kind->count > 1 && kind->count + 1 >= blocks);
}

// Turns that stack nothing of the batch up keep nothing for a backward pass: layers of a net that nobody trains.
static bool keeps_nothing(const struct advisor *advisor, uint32_t loop) {
    for (uint32_t i = 0; i < advisor->graph.nodes[loop].leaf_count; i++) {
        bool follows_batch = advisor->batch.marks[advisor->graph.nodes[loop].first_leaf + i];
        if (follows_batch && loop_steps_is_filled(&advisor->steps, loop, i)) return false;
    }
    return true;
}

struct loops {
    uint32_t *caller;        // of each computation (callers.h)
    uint8_t *keeps_nothing;  // of each node that is a loop
};

// Asked once of each loop, however many products it has. False at the arena's limit.
static bool find_loops(const struct advisor *advisor, struct loops *loops) {
    const struct program_graph *graph = &advisor->graph;
    *loops = (struct loops){callers_find(graph, advisor->arena), arena_new(advisor->arena, uint8_t, graph->node_count)};
    if (!loops->caller || !loops->keeps_nothing) return false;
    for (uint32_t i = 0; i < graph->node_count; i++)
        loops->keeps_nothing[i] = graph->nodes[i].opcode == OPCODE_WHILE && keeps_nothing(advisor, i);
    return true;
}

// Of the innermost loop whose turns compute it.
static bool is_of_nothing_kept(const struct advisor *advisor, const struct loops *loops, uint32_t index) {
    enum { DEPTH_MAX = 32 };
    for (int i = 0; i < DEPTH_MAX && index != HLO_NONE; i++) {
        index = loops->caller[advisor->graph.nodes[index].computation];
        if (index != HLO_NONE && advisor->graph.nodes[index].opcode == OPCODE_WHILE) return loops->keeps_nothing[index];
    }
    return false;
}

double saved_products_bytes(const struct advisor *advisor, double blocks, int64_t stream_bytes, bool is_looped) {
    struct kind kinds[KINDS_MAX];
    int count = 0;
    double bytes = 0, unread = 0;
    struct loops loops = {0};
    bool has_loops = is_looped && find_loops(advisor, &loops);
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || product.is_repeated != is_looped) continue;
        if (!has_loops || !is_of_nothing_kept(advisor, &loops, i)) add_product(advisor, &product, kinds, &count);
    }
    for (int k = 0; k < count; k++) {
        if (!is_of_blocks(&kinds[k], blocks, is_looped)) continue;
        bytes += kinds[k].bytes * (is_looped ? blocks * kinds[k].count : kinds[k].count);
        if (kinds[k].bytes == (double)stream_bytes) unread = kinds[k].bytes * blocks;
    }
    return unread < bytes ? bytes - unread : bytes;
}
