#include "analysis/advice/saved_products.h"

#include "analysis/advice/source_line.h"
#include "analysis/advice/weight_products.h"

#include <math.h>

enum { KINDS_MAX = 64 };

struct kind {  // products of one shape, or, where blocks are of unequal size, of one line
    const struct array_shape *shape;
    int32_t line;
    uint32_t count, untrained;
    double bytes;  // of the first
    double all_bytes;
};

static bool is_kind(const struct kind *kind, const struct array_shape *shape, int32_t line) {
    return line > 0 ? kind->line == line : array_same_dimensions(kind->shape, shape);
}

static void add_product(const struct advisor *advisor, const struct weight_product *product, int32_t line,
                        bool is_untrained, struct kind kinds[KINDS_MAX], int *count) {
    const struct array_shape *shape = &advisor->graph.leaves[product->result];
    double bytes = weight_product_bytes(advisor, product);
    int at = 0;
    while (at < *count && !is_kind(&kinds[at], shape, line)) at++;
    if (at == KINDS_MAX) return;
    if (at == *count) kinds[(*count)++] = (struct kind){.shape = shape, .line = line, .bytes = bytes};
    kinds[at].count++;
    kinds[at].all_bytes += bytes;
    kinds[at].untrained += is_untrained;
}

// What nobody trains waits for no backward pass; but what stands before the first adapter, a few, is of a block.
static void set_aside_untrained(struct kind *kind) {
    if (2 * kind->untrained < kind->count) return;
    kind->all_bytes -= kind->all_bytes * kind->untrained / kind->count;
    kind->count -= kind->untrained;
}

static double least_blocks(const struct block_stages *stages) {
    double least = stages->blocks;
    for (uint32_t s = 0; s < stages->count; s++) least = fmin(least, stages->stages[s].blocks);
    return least;
}

// Each block of its stage has it; the first or the last may lack it. One alone is of the head.
static bool is_of_blocks(const struct kind *kind, const struct block_stages *stages, bool is_looped) {
    return is_looped || (kind->count > 1 && kind->count + 1 >= least_blocks(stages));
}

// Does the innermost loop around it stack nothing of the batch up? Then nothing waits there for a backward pass: layers
// of a net that nobody trains.
static bool is_kept_by_no_loop(const struct advisor *advisor, uint32_t index) {
    enum { DEPTH_MAX = 32 };
    for (int i = 0; i < DEPTH_MAX && index != HLO_NONE; i++) {
        index = advisor->caller[advisor->graph.nodes[index].computation];
        if (index != HLO_NONE && advisor->graph.nodes[index].opcode == OPCODE_WHILE)
            return !advisor->is_stacking[index];
    }
    return false;
}

// What blocks end with, where a product has as many bytes.
static double unread_bytes(int64_t stream_bytes, double blocks, const struct kind *kinds, int count) {
    for (int k = 0; k < count; k++) {
        if (kinds[k].bytes == (double)stream_bytes) return kinds[k].bytes * blocks;
    }
    return 0;
}

static double unread_of_stages(const struct block_stages *stages, const struct kind *kinds, int count) {
    double bytes = 0;
    for (uint32_t s = 0; s < stages->count; s++)
        bytes += unread_bytes(stages->stages[s].stream_bytes, stages->stages[s].blocks, kinds, count);
    return bytes;
}

static int32_t line_of(const struct advisor *advisor, const struct block_stages *stages, uint32_t instruction) {
    return stages->are_unequal ? source_line_of(advisor->module, instruction) : 0;
}

static int list_kinds(const struct advisor *advisor, const struct block_stages *stages, bool is_looped,
                      struct kind kinds[KINDS_MAX]) {
    int listed = 0, count = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || product.is_repeated != is_looped) continue;
        if (product.weight_batch) continue;
        bool is_kept = !is_looped || !is_kept_by_no_loop(advisor, i);
        if (is_kept)
            add_product(advisor, &product, line_of(advisor, stages, i), advisor->untrained_products[i], kinds, &listed);
    }
    for (int k = 0; k < listed; k++) {
        set_aside_untrained(&kinds[k]);
        if (kinds[k].count && is_of_blocks(&kinds[k], stages, is_looped)) kinds[count++] = kinds[k];
    }
    return count;
}

// Of low-rank factors that are multiplied to be added to a weight, as DoRA does for its norm: a policy that keeps
// products keeps these too.
static double made_weights_bytes(const struct advisor *advisor) {
    double bytes = 0;
    if (!dimension_flow_has_marks(&advisor->batch)) return 0;  // all are of no data then
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        double made = unbatched_product_bytes(advisor, i);
        bytes += made > 0 && !is_kept_by_no_loop(advisor, i) ? made : 0;
    }
    return bytes;
}

double saved_products_bytes(const struct advisor *advisor, const struct block_stages *stages, int64_t turns) {
    struct kind kinds[KINDS_MAX];
    int count = list_kinds(advisor, stages, turns > 0, kinds);
    double bytes = 0, times = turns > 0 ? (double)turns : 1;
    for (int k = 0; k < count; k++) bytes += kinds[k].all_bytes * times;
    double unread = turns > 0 ? unread_bytes(block_stages_stream_bytes(stages), times, kinds, count)
                              : unread_of_stages(stages, kinds, count);
    bytes -= unread < bytes ? unread : 0;
    return turns > 0 ? bytes + made_weights_bytes(advisor) * times : bytes;
}
