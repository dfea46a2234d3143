// Dimensions that are no multiple of their tile: one of them made smaller everywhere.
//
//     f32[2048,2050]{1,0:T(8,128)}    2050 lies in 2176; as 2048 it would lie in 2048
//
// Padding is summed by the size of the dimension that causes it and by its tile, over what is alive at the peak; the
// sizes that cause most are tried: that dimension, and all that are tied to it, get the next smaller multiple, and the
// heap is replayed. What is dropped with the padding are real elements, rows of a table say: it is the padding that
// must be worth it. Examples joined with their tokens, 64 x 200, are no dimension of the model.
#include "analysis/advice/advisor.h"
#include "analysis/hlo/shape.h"
#include "analysis/memory/memory_view.h"

enum { CANDIDATES_MAX = 64, TRIED_MAX = 4, SMALLEST = 9, SHRINK_MAX = 8 };  // by an eighth at most

struct candidate {
    int64_t size, tile;
    double wasted_bytes;
    bool is_tried;
    uint32_t buffer;  // the one with most padding
    double buffer_wasted;
    int dimension;
};

struct candidates {
    struct candidate list[CANDIDATES_MAX];
    int count;
    double kept_bytes, kept_most_bytes;  // of padding in dimensions that are no candidates; in one buffer
    int64_t kept_size, kept_padded;
    double useless_bytes;   // of padding in dimensions that were tried, or too many to be, and save nothing
    int64_t parted, parts;  // the last candidate that no smaller multiple of its parts can be, and one of these
};

static struct candidate *candidate_for(struct candidates *candidates, int64_t size, int64_t tile) {
    for (int i = 0; i < candidates->count; i++) {
        struct candidate *c = &candidates->list[i];
        if (c->size == size && c->tile == tile) return c;
    }
    if (candidates->count == CANDIDATES_MAX) return NULL;
    candidates->list[candidates->count] = (struct candidate){.size = size, .tile = tile, .buffer = HLO_NONE};
    return &candidates->list[candidates->count++];
}

// Of that size, whatever tile divides this one: all that goes when the size is a multiple of it.
static double padding_of(const struct candidates *candidates, const struct candidate *of) {
    double bytes = 0;
    for (int i = 0; i < candidates->count; i++) {
        const struct candidate *c = &candidates->list[i];
        if (c->size == of->size && of->tile % c->tile == 0) bytes += c->wasted_bytes;
    }
    return bytes;
}

static double least_bytes(const struct advisor *advisor) {
    return (double)advisor->what_if.total_bytes / 1000;
}

static int64_t tile_of(const struct array_shape *shape, int dimension) {
    for (int i = 0; i < shape->rank && i < shape->tile_rank; i++) {
        if (shape->minor_to_major[i] == dimension) return shape->tile[i];
    }
    return 1;
}

// Padding that no small change takes away.
static void keep_padding(struct candidates *candidates, int64_t size, int64_t padded, double wasted_bytes) {
    candidates->kept_bytes += wasted_bytes;
    if (wasted_bytes <= candidates->kept_most_bytes) return;
    candidates->kept_most_bytes = wasted_bytes;
    candidates->kept_size = size;
    candidates->kept_padded = padded;
}

// Several examples in a row, each with all that it has: the batch is followed here, but is not alone.
static bool is_joined_of_examples(const struct advisor *advisor, uint32_t leaf, int dimension) {
    int64_t size = advisor->graph.leaves[leaf].dimensions[dimension], batch = advisor->roles.batch;
    return batch > 1 && (advisor->batch.marks[leaf] >> dimension & 1) && size > batch && size % batch == 0;
}

static void see_buffer(const struct advisor *advisor, uint32_t buffer, struct candidates *candidates) {
    uint32_t leaf = buffer == HLO_NONE ? HLO_NONE : advisor_leaf(advisor, buffer);
    if (leaf == HLO_NONE || !array_is(&advisor->graph.leaves[leaf])) return;
    const struct array_shape *shape = &advisor->graph.leaves[leaf];
    for (int d = 0; d < shape->rank; d++) {
        int64_t padded = array_padded_dimension(shape, d), size = shape->dimensions[d], tile = tile_of(shape, d);
        double wasted = (double)advisor->module->buffers[buffer].size_bytes * (double)(padded - size) / (double)padded;
        if (padded <= size) continue;
        if (size < SMALLEST || is_joined_of_examples(advisor, leaf, d) || size % tile * SHRINK_MAX > size ||
            size % tile > padded - size) {
            keep_padding(candidates, size, padded, wasted);
            continue;
        }
        struct candidate *c = candidate_for(candidates, size, tile);
        candidates->useless_bytes += wasted;
        if (!c) continue;
        c->wasted_bytes += wasted;
        if (wasted <= c->buffer_wasted) continue;
        c->buffer_wasted = wasted;
        c->buffer = buffer;
        c->dimension = d;
    }
}

static void see_all(const struct advisor *advisor, struct candidates *candidates) {
    const struct hlo_module *module = advisor->module;
    const struct heap_replay *replay = &advisor->what_if.replay;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) see_buffer(advisor, replay->live_at_peak[i], candidates);
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        if (a->color || !(a->is_entry_parameter || a->maybe_live_out) || !a->assigned_count) continue;
        see_buffer(advisor, module->assigned[a->first_assigned].buffer, candidates);
    }
}

static int64_t aligned_size(const struct candidate *c) {
    return c->tile > 0 ? c->size / c->tile * c->tile : c->size;
}

static bool predict_aligned(struct advisor *advisor, const struct candidate *c, struct dimension_flow *flow,
                            struct advice_item *item) {
    int64_t *sizes = advisor_sizes(advisor);
    int64_t size = c->size > 0 ? c->size : 1, to = aligned_size(c);
    if (!sizes) return false;
    dimension_flow_clear(flow);
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count; leaf++) {
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        for (int d = 0; array_is(shape) && d < shape->rank; d++) {
            if (shape->dimensions[d] == c->size) dimension_flow_mark(flow, leaf, d);
        }
    }
    dimension_flow_run(flow);
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        if (leaf == HLO_NONE || !flow->marks[leaf]) continue;
        struct array_shape shape = advisor->graph.leaves[leaf];
        for (int d = 0; d < shape.rank; d++) {
            if ((flow->marks[leaf] >> d & 1) && shape.dimensions[d] % size == 0)
                shape.dimensions[d] = shape.dimensions[d] / size * to;
        }
        sizes[i] = advisor_reshaped(advisor, i, &shape);
    }
    struct what_if_change change = {.sizes = sizes};
    return advisor_predict(advisor, &change, 0.04, 0.02, item);
}

static void describe(struct advisor *advisor, const struct candidate *c, struct advice_item *item) {
    struct bytes op_name = advisor->graph.nodes[advisor->graph.node_of_leaf[advisor_leaf(advisor, c->buffer)]].op_name;
    const char *shape = shape_text(memory_view_shape(advisor->module, c->buffer, MEMORY_VIEW_EXACT), advisor->kept);
    const char *name = arena_string(advisor->kept, op_name);
    item->has_dimension = true;
    item->dimension = (struct advice_dimension){
        .shape = shape ? shape : "",
        .op_name = name ? name : "",
        .dimension = c->dimension,
        .from = c->size,
        .to = aligned_size(c),
        .padded = array_padded_dimension(&advisor->graph.leaves[advisor_leaf(advisor, c->buffer)], c->dimension)};
    advisor_say(advisor, item, "Dimension %d of %s is %lld and lies in %lld: %s of padding in that buffer.",
                c->dimension, advisor_buffer_text(advisor, c->buffer), (long long)c->size,
                (long long)item->dimension.padded, size_string((int64_t)c->buffer_wasted, advisor->arena));
    advisor_say(advisor, item,
                "Everything of size %lld made %lld, with what is computed from it, saves %s: padding, and %lld of %lld "
                "real ones.",
                (long long)c->size, (long long)item->dimension.to, size_string(item->saves_bytes, advisor->arena),
                (long long)(c->size - item->dimension.to), (long long)c->size);
}

// Is a dimension joined of parts, say 12 heads of 80, of which the new size is no multiple? `*part` gets one of them.
// Queries, keys and values that are sliced from one product are parts as well, and joined of heads themselves.
static bool is_parted(const struct advisor *advisor, const struct candidate *c, struct dimension_flow *flow,
                      int64_t *part) {
    int64_t to = aligned_size(c);
    flow->ties_joined = true;
    dimension_flow_run(flow);
    flow->ties_joined = false;
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count; leaf++) {
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        for (int d = 0; flow->marks[leaf] && d < shape->rank; d++) {
            int64_t size = shape->dimensions[d];
            if (!(flow->marks[leaf] >> d & 1) || size < 2 || size >= c->size || c->size % size) continue;
            *part = size;
            if (to % size && to % (c->size / size)) return true;
        }
    }
    return false;
}

static int most_wasteful(const struct candidates *candidates) {
    int best = -1;
    for (int i = 0; i < candidates->count; i++) {
        double wasted = candidates->list[i].wasted_bytes;
        if (wasted > 0 && !candidates->list[i].is_tried && (best < 0 || wasted > candidates->list[best].wasted_bytes))
            best = i;
    }
    return best;
}

static bool say_parted(const struct advisor *advisor, const struct candidates *candidates, struct advice_item *item) {
    const char *why = arena_printf(advisor->arena,
                                   "A dimension that pads, %lld, is joined of %lld parts of %lld: no multiple of "
                                   "its tile that is an eighth smaller or less can be made of either.",
                                   (long long)candidates->parted, (long long)candidates->parts,
                                   (long long)(candidates->parted / candidates->parts));
    return advisor_no_use(advisor, item, why ? why : "");
}

// What is padded all the same: dimensions that would have to lose more than an eighth, or the larger part of a tile,
// and those that save nothing because the peak is elsewhere.
static bool say_no_dimension(const struct advisor *advisor, const struct candidates *candidates,
                             struct advice_item *item) {
    if (candidates->parts) return say_parted(advisor, candidates, item);
    if (candidates->kept_bytes + candidates->useless_bytes <= least_bytes(advisor))
        return advisor_no_use(advisor, item, "Padding is less than a thousandth of the total.");
    if (candidates->kept_bytes <= candidates->useless_bytes) {
        const char *tried = arena_printf(
            advisor->arena,
            "%s of padding is in dimensions that could be a multiple of their tile, but the "
            "largest of them made smaller save less than a thousandth of the total.",
            size_string(what_if_bytes(candidates->useless_bytes), advisor->arena));
        return advisor_no_use(advisor, item, tried ? tried : "");
    }
    const char *why = arena_printf(
        advisor->arena,
        "No dimension that could shrink by an eighth or less pads more than a thousandth of the total; %s of padding "
        "is in dimensions that are too far above a multiple of their tile, most of it in %lld, which lies in %lld.",
        size_string(what_if_bytes(candidates->kept_bytes), advisor->arena), (long long)candidates->kept_size,
        (long long)candidates->kept_padded);
    return advisor_no_use(advisor, item, why ? why : "");
}

// A TPU's are; compilers for other devices lay arrays out as they are.
static bool has_tiles(const struct advisor *advisor) {
    for (uint32_t i = 0; i < advisor->graph.leaf_count; i++) {
        if (array_is(&advisor->graph.leaves[i]) && advisor->graph.leaves[i].tile_rank) return true;
    }
    return false;
}

struct trials {
    struct candidates candidates;
    struct advice_item best;
    struct candidate chosen;
};

// What cannot be is not what sets of changes are made with either.
static bool try_candidate(struct advisor *advisor, struct candidate *c, struct dimension_flow *flow,
                          struct trials *trials) {
    struct candidates *candidates = &trials->candidates;
    struct advice_item trial = {.id = ADVICE_ALIGN_DIMENSIONS};
    struct what_if_result told = advisor->told[trial.id];
    struct advice_reach reach = advisor->reach;
    int64_t part = 0;
    if (!predict_aligned(advisor, c, flow, &trial)) return false;
    bool is_joined = is_parted(advisor, c, flow, &part);
    bool cannot_be = is_joined || padding_of(candidates, c) <= least_bytes(advisor);
    c->is_tried = true;
    if (cannot_be) {
        advisor->told[trial.id] = told;
        advisor->reach = reach;
    }
    if (is_joined && !candidates->parts) {
        candidates->parted = c->size;
        candidates->parts = part;
    }
    if (!cannot_be && trial.saves_bytes > trials->best.saves_bytes) {
        trials->best = trial;
        trials->chosen = *c;
    }
    return true;
}

static bool try_all(struct advisor *advisor, struct dimension_flow *flow, struct trials *trials) {
    for (int tried = 0; tried < TRIED_MAX; tried++) {
        int i = most_wasteful(&trials->candidates);
        if (i < 0) break;
        if (!try_candidate(advisor, &trials->candidates.list[i], flow, trials)) return false;
    }
    return true;
}

bool advise_alignment(struct advisor *advisor, struct advice_item *item) {
    struct trials *trials = arena_new(advisor->arena, struct trials, 1);
    struct dimension_flow flow;
    item->how = "Nothing: arrays here are as large as their elements, whatever their dimensions.";
    if (!has_tiles(advisor)) return advisor_no_use(advisor, item, "The compiler pads no array of this program.");
    item->how = "Make the dimension a multiple of its tile where the model defines it: drop the odd elements, or split "
                "them off.";
    if (!trials || !dimension_flow_init(&flow, &advisor->graph, advisor->arena))
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left to look for padding");
    see_all(advisor, &trials->candidates);
    if (!try_all(advisor, &flow, trials)) return false;
    if ((double)trials->best.saves_bytes <= least_bytes(advisor))
        return say_no_dimension(advisor, &trials->candidates, item);
    trials->best.how = item->how;
    *item = trials->best;
    item->applies = item->changes_numerics = true;
    describe(advisor, &trials->chosen, item);
    return true;
}
