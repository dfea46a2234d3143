#include "analysis/advice/dimension_marks.h"

#include "analysis/advice/fills.h"
#include "analysis/base/common_divisor.h"

bool dimension_flow_init(struct dimension_flow *flow, const struct program_graph *graph, struct arena *arena) {
    *flow = (struct dimension_flow){.graph = graph, .level = FLOW_ALL};
    flow->marks = arena_new(arena, uint8_t, graph->leaf_count);
    flow->is_blocked = arena_new(arena, uint8_t, graph->leaf_count);
    flow->starts = arena_push_raw(arena, (size_t)graph->leaf_count * ARRAY_RANK_MAX, sizeof *flow->starts);
    flow->is_fill = fills_find(graph, arena);
    return flow->marks && flow->is_blocked && flow->starts && flow->is_fill;
}

void dimension_flow_clear(struct dimension_flow *flow) {
    if (flow->graph->leaf_count) memset(flow->marks, 0, flow->graph->leaf_count);
    flow->joined.count = 0;
}

static uint32_t *start_of(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return &flow->starts[(size_t)leaf * ARRAY_RANK_MAX + (size_t)dimension];
}

static bool is_forbidden(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return flow->forbidden && (flow->forbidden[leaf] >> dimension & 1);
}

// From that factor on.
static bool can_share(const struct dimension_flow *flow, uint32_t leaf, int dimension, double start) {
    double size = (double)flow->graph->leaves[leaf].dimensions[dimension] / (start > 1 ? start : 1);
    return !flow->marks[leaf] && common_divisor(size < 1 ? 1 : (int64_t)size, flow->chips) > 1;
}

void dimension_flow_mark_factor(struct dimension_flow *flow, uint32_t leaf, int dimension, double start) {
    if (!flow_has_dimension(flow, leaf, dimension) || flow->is_blocked[leaf] || (flow->marks[leaf] >> dimension & 1))
        return;
    if (flow->chips && !can_share(flow, leaf, dimension, start)) return;
    uint32_t whole = start < UINT32_MAX ? (uint32_t)start : UINT32_MAX;
    if (is_forbidden(flow, leaf, dimension)) return;
    flow->marks[leaf] |= (uint8_t)(1u << dimension);
    *start_of(flow, leaf, dimension) = whole;
    flow->has_changed = true;
    if (flow->newly_marked) flow->newly_marked[flow->newly_marked_count++] = leaf;
}

void dimension_flow_mark(struct dimension_flow *flow, uint32_t leaf, int dimension) {
    dimension_flow_mark_factor(flow, leaf, dimension, 1);
}

double dimension_flow_start(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return *start_of(flow, leaf, dimension);
}

void dimension_flow_take(struct dimension_flow *to, const struct dimension_flow *from, uint32_t leaf) {
    to->marks[leaf] = from->marks[leaf];
    memcpy(start_of(to, leaf, 0), start_of(from, leaf, 0), ARRAY_RANK_MAX * sizeof *to->starts);
}

uint8_t dimension_flow_shared(const struct dimension_flow *a, const struct dimension_flow *b, uint32_t leaf) {
    uint8_t both = a->marks[leaf] & b->marks[leaf];
    for (int d = 0; d < ARRAY_RANK_MAX; d++) {
        bool is_shared = (both >> d & 1) && *start_of(a, leaf, d) == *start_of(b, leaf, d);
        if (!is_shared) both &= (uint8_t) ~(1u << d);
    }
    return both;
}

// What is one value all over is asked backwards only, as far as that goes.
static bool hands_on(const struct dimension_flow *flow, uint32_t from, uint32_t to) {
    return !flow->is_fill[from] || flow->is_fill[to];
}

void dimension_tie_padded(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b) {
    if (!flow_has_dimension(flow, leaf_a, a) || !flow_has_dimension(flow, leaf_b, b)) return;
    bool is_a = flow->marks[leaf_a] >> a & 1, is_b = flow->marks[leaf_b] >> b & 1;
    bool is_from_a = is_a && !is_b && hands_on(flow, leaf_a, leaf_b);
    bool is_from_b = is_b && !is_a && hands_on(flow, leaf_b, leaf_a);
    if (is_from_a) dimension_flow_mark_factor(flow, leaf_b, b, dimension_flow_start(flow, leaf_a, a));
    if (is_from_b) dimension_flow_mark_factor(flow, leaf_a, a, dimension_flow_start(flow, leaf_b, b));
}

// `part`: they may differ by that part of their size; 0: by nothing.
static void tie_within(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b, int64_t part) {
    if (!flow_has_dimension(flow, leaf_a, a) || !flow_has_dimension(flow, leaf_b, b)) return;
    int64_t size_a = flow_leaf(flow, leaf_a)->dimensions[a], size_b = flow_leaf(flow, leaf_b)->dimensions[b];
    int64_t apart = size_a > size_b ? size_a - size_b : size_b - size_a;
    if (apart <= (part ? size_a / part : 0)) dimension_tie_padded(flow, leaf_a, a, leaf_b, b);
}

void dimension_tie(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b) {
    tie_within(flow, leaf_a, a, leaf_b, b, 0);
}

static bool is_more_than_one(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return flow_has_dimension(flow, leaf, dimension) && flow_leaf(flow, leaf)->dimensions[dimension] > 1;
}

static bool are_equal_parts(int64_t a, int64_t b) {
    enum { PARTS_MAX = 4 };
    int64_t smaller = a < b ? a : b, larger = a < b ? b : a;
    return smaller > 1 && larger % smaller == 0 && larger / smaller <= PARTS_MAX;
}

int dimension_differing(const struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b) {
    const struct array_shape *a = flow_leaf(flow, leaf_a), *b = flow_leaf(flow, leaf_b);
    int differing = -1, count = 0;
    for (int d = 0; d < a->rank && a->rank == b->rank; d++) {
        if (a->dimensions[d] == b->dimensions[d]) continue;
        differing = d;
        count++;
    }
    return count == 1 ? differing : -1;
}

static struct joined_part *find_part(struct dimension_flow *flow, int64_t whole, int64_t part) {
    for (int i = 0; i < flow->joined.count; i++) {
        struct joined_part *one = &flow->joined.of[i];
        if (one->whole == whole && one->part == part) return one;
    }
    return NULL;
}

void dimension_flow_mark_joined(struct dimension_flow *flow, uint32_t part, uint32_t whole, int dimension) {
    struct joined_part one = {.whole = flow_leaf(flow, whole)->dimensions[dimension],
                              .part = flow_leaf(flow, part)->dimensions[dimension],
                              .start = dimension_flow_start(flow, part, dimension)};
    if (!find_part(flow, one.whole, one.part) && flow->joined.count < JOINED_MAX)
        flow->joined.of[flow->joined.count++] = one;
    dimension_flow_mark_factor(flow, whole, dimension, one.start);
}

void dimension_tie_part(struct dimension_flow *flow, uint32_t whole, uint32_t part, int dimension) {
    const struct joined_part *one = find_part(flow, flow_leaf(flow, whole)->dimensions[dimension],
                                              flow_leaf(flow, part)->dimensions[dimension]);
    if (one && flow_is_marked(flow, whole, dimension)) dimension_flow_mark_factor(flow, part, dimension, one->start);
}

void dimension_tie_joined(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b) {
    int d = dimension_differing(flow, leaf_a, leaf_b);
    if (d >= 0 && are_equal_parts(flow_leaf(flow, leaf_a)->dimensions[d], flow_leaf(flow, leaf_b)->dimensions[d]))
        dimension_tie_padded(flow, leaf_a, d, leaf_b, d);
}

void dimension_tie_cut(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b) {
    enum { CUT_DIVISOR = 64 };
    if (flow->ties_parts && is_more_than_one(flow, leaf_a, a) && is_more_than_one(flow, leaf_b, b))
        dimension_tie_padded(flow, leaf_a, a, leaf_b, b);
    else
        tie_within(flow, leaf_a, a, leaf_b, b, flow->follows_cuts ? CUT_DIVISOR : 0);
}

void dimension_tie_all(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b) {
    const struct array_shape *a = flow_leaf(flow, leaf_a);
    if (flow->marks[leaf_a] == flow->marks[leaf_b] || !array_same_dimensions(a, flow_leaf(flow, leaf_b))) return;
    for (int d = 0; d < a->rank; d++) dimension_tie(flow, leaf_a, d, leaf_b, d);
}

bool dimension_flow_has_marks(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->leaf_count; i++) {
        if (flow->marks[i]) return true;
    }
    return false;
}

static bool is_doubled(const struct doubled *doubled, int64_t size) {
    for (int i = 0; i < doubled->count; i++) {
        if (doubled->sizes[i] == size) return true;
    }
    return false;
}

// The product of two dimensions that are marked; 0: not so many are.
static int64_t product_of_two(const struct dimension_flow *flow, uint32_t leaf) {
    const struct array_shape *shape = flow_leaf(flow, leaf);
    int64_t product = 1;
    int count = 0;
    for (int d = 0; d < shape->rank; d++) {
        if (!flow_is_marked(flow, leaf, d) || shape->dimensions[d] <= 1) continue;
        product *= count++ < 2 ? shape->dimensions[d] : 1;
    }
    return count == 2 ? product : 0;
}

static void note_joining(struct dimension_flow *flow, uint32_t from, uint32_t to) {
    const struct array_shape *shape = flow_leaf(flow, to);
    int64_t product = product_of_two(flow, from);
    if (!product || __builtin_popcount(flow->marks[to]) != 1) return;
    if (array_shape_elements(shape) != array_shape_elements(flow_leaf(flow, from))) return;
    for (int d = 0; d < shape->rank && flow->doubled.count < DOUBLED_MAX; d++) {
        bool is_joined = flow_is_marked(flow, to, d) && shape->dimensions[d] % product == 0;
        if (is_joined && !is_doubled(&flow->doubled, shape->dimensions[d]))
            flow->doubled.sizes[flow->doubled.count++] = shape->dimensions[d];
    }
}

static bool has_doubled(const struct dimension_flow *flow, uint32_t leaf) {
    for (int d = 0; d < flow_leaf(flow, leaf)->rank; d++) {
        if (flow_is_marked(flow, leaf, d) && is_doubled(&flow->doubled, flow_leaf(flow, leaf)->dimensions[d]))
            return true;
    }
    return false;
}

// What a doubled dimension is taken apart to has two, of one size and beside each other, where marks tell one.
static void mark_both(struct dimension_flow *flow, uint32_t from, uint32_t to) {
    const struct array_shape *shape = flow_leaf(flow, to);
    int marked = __builtin_ctz(flow->marks[to] | 1u << ARRAY_RANK_MAX);
    if (__builtin_popcount(flow->marks[to]) != 1 || !has_doubled(flow, from) || has_doubled(flow, to)) return;
    for (int d = marked - 1; d <= marked + 1; d += 2) {
        if (d < 0 || d >= shape->rank || shape->dimensions[d] != shape->dimensions[marked]) continue;
        dimension_flow_mark(flow, to, d);
        return;
    }
}

void dimension_flow_find_doubled(struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        const struct graph_node *node = &flow->graph->nodes[i];
        bool is_arranged = node->opcode == OPCODE_BITCAST || node->opcode == OPCODE_RESHAPE;
        uint32_t from = is_arranged && node->leaf_count == 1 ? flow_operand_leaf(flow, node, 0) : HLO_NONE;
        if (from == HLO_NONE || !array_is(flow_leaf(flow, node->first_leaf))) continue;
        note_joining(flow, from, node->first_leaf);
        note_joining(flow, node->first_leaf, from);
        mark_both(flow, from, node->first_leaf);
        mark_both(flow, node->first_leaf, from);
    }
}

struct array_shape dimension_flow_divided(const struct dimension_flow *flow, uint32_t leaf, int64_t ways) {
    struct array_shape shape = flow->graph->leaves[leaf];
    if (!array_is(&shape)) return shape;
    for (int d = 0; d < shape.rank; d++) {
        int64_t parts = is_doubled(&flow->doubled, shape.dimensions[d]) ? ways * ways : ways;
        if (flow->marks[leaf] >> d & 1) shape.dimensions[d] = (shape.dimensions[d] + parts - 1) / parts;
    }
    return shape;
}
