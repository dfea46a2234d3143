#include "analysis/advice/sequence.h"

#include "analysis/advice/dimension_ties.h"
#include "analysis/program/op_name.h"

enum { TRIED_MAX = 8, IMAGE_RANK = 4, FILM_RANK = 5, FRAMES = 1, LEAST_DIVISOR = 20, WEIGHTS_DIVISOR = 8 };

struct finder {
    const struct program_graph *graph;
    const struct program_roles *roles;
    const struct dimension_flow *batch;
    struct dimension_flow *flow;
    int64_t told;
    bool has_films;
};

struct candidate {
    int64_t size;
    int dimension;
    double reached;
    bool is_much, is_stepped, attends;
};

struct candidates {
    struct candidate of[TRIED_MAX];
    int count;
};

static const struct array_shape *shape_of(const struct finder *f, uint32_t input) {
    uint32_t leaf = f->roles->inputs[input].leaf;
    return leaf == HLO_NONE || !array_is(&f->graph->leaves[leaf]) ? NULL : &f->graph->leaves[leaf];
}

static bool is_integer(const struct array_shape *shape) {
    return shape->element_type >= 1 && shape->element_type <= 9;
}

static bool is_cache(const struct finder *f, uint32_t input) {
    return !f->roles->is_training && f->roles->inputs[input].mirror != HLO_NONE && shape_of(f, input)->rank > 2;
}

// What follows the batch, or, where none is known, integers; and caches. Images have sides, and so have volumes that
// are convolved; films [batch, frames, height, width, colours] have frames.
static bool is_data(const struct finder *f, uint32_t input) {
    const struct entry_input *in = &f->roles->inputs[input];
    const struct array_shape *shape = shape_of(f, input);
    if (!shape || in->is_state) return false;
    if (is_cache(f, input)) return true;
    bool is_film = f->has_films && shape->rank >= FILM_RANK;
    if (shape->rank >= IMAGE_RANK && !is_integer(shape) && !is_film) return false;
    return f->batch->marks[in->leaf] || (!f->roles->batch && is_integer(shape));
}

// What comes back with examples in it is for the next step: hidden states of the last rows.
static bool is_carried(const struct finder *f, uint32_t input) {
    uint32_t mirror = f->roles->inputs[input].mirror;
    uint32_t back = mirror == HLO_NONE ? HLO_NONE : f->roles->outputs[mirror].leaf;
    return back != HLO_NONE && f->batch->marks[back];
}

static bool is_weight(const struct finder *f, uint32_t input) {
    const struct entry_input *in = &f->roles->inputs[input];
    const struct array_shape *shape = shape_of(f, input);
    if (!shape) return false;
    if (f->roles->is_training) return in->is_state && !is_carried(f, input);
    return in->mirror == HLO_NONE && !f->batch->marks[in->leaf] && !is_integer(shape);
}

static int64_t bytes_of_input(const struct finder *f, uint32_t input) {
    int64_t bytes = array_shape_bytes(shape_of(f, input));
    return bytes > 0 ? bytes : 0;
}

bool sequence_stands_twice(const struct dimension_flow *flow) {
    for (uint32_t leaf = 0; leaf < flow->graph->leaf_count; leaf++) {
        if (__builtin_popcount(flow->marks[leaf]) > 1) return true;
    }
    return false;
}

// --- One candidate ---

static bool has_dimension(const struct finder *f, uint32_t input, struct candidate one) {
    const struct array_shape *shape = is_data(f, input) ? shape_of(f, input) : NULL;
    if (!shape || one.dimension >= shape->rank || shape->dimensions[one.dimension] != one.size) return false;
    if (shape->rank >= FILM_RANK && !is_integer(shape) && !is_cache(f, input) && one.dimension != FRAMES) return false;
    return f->roles->is_one_example || !(f->batch->marks[f->roles->inputs[input].leaf] >> one.dimension & 1);
}

static bool is_of_cache(const struct finder *f, struct candidate one) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (has_dimension(f, i, one) && is_cache(f, i)) return true;
    }
    return false;
}

// All of it, or but for what is cut off in front or behind: words that the others are the next of.
static bool is_as_long(int64_t length, int64_t size) {
    enum { CUT_DIVISOR = 64 };
    return length <= size && size - length <= size / CUT_DIVISOR;
}

// In a body that takes one of a dimension at a time, what is taken or written one of as many at a time goes with it.
static bool mark_taken(struct dimension_flow *flow, uint32_t leaf, uint32_t part, int64_t size) {
    if (leaf == HLO_NONE || part == HLO_NONE) return false;
    const struct array_shape *whole = flow_leaf(flow, leaf), *one = flow_leaf(flow, part);
    uint8_t marks = flow->marks[leaf];
    for (int d = 0; d < whole->rank && whole->rank == one->rank; d++) {
        if (one->dimensions[d] == 1 && is_as_long(whole->dimensions[d], size)) dimension_flow_mark(flow, leaf, d);
    }
    return flow->marks[leaf] != marks;
}

static bool mark_steps(struct dimension_flow *flow, int64_t size) {
    bool has_marked = false;
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        const struct graph_node *node = &flow->graph->nodes[i];
        if (flow->graph->computations[node->computation].is_entry || node->leaf_count != 1) continue;
        if (node->opcode == OPCODE_DYNAMIC_SLICE)
            has_marked |= mark_taken(flow, flow_operand_leaf(flow, node, 0), node->first_leaf, size);
        if (node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE)
            has_marked |= mark_taken(flow, node->first_leaf, flow_operand_leaf(flow, node, 1), size);
    }
    return has_marked;
}

// It is as long as what it takes the place of. What looks at both has them joined.
static bool mark_carried(const struct finder *f) {
    bool has_marked = false;
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        const struct entry_input *in = &f->roles->inputs[i];
        const struct array_shape *shape = is_carried(f, i) ? shape_of(f, i) : NULL;
        if (!shape) continue;
        uint8_t marks = f->flow->marks[in->leaf];
        for (int d = 0; d < shape->rank; d++) {
            if (flow_is_marked(f->flow, f->roles->outputs[in->mirror].leaf, d))
                dimension_flow_mark(f->flow, in->leaf, d);
        }
        has_marked |= f->flow->marks[in->leaf] != marks;
    }
    return has_marked;
}

static void mark_inputs(const struct finder *f, struct candidate one) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (has_dimension(f, i, one)) dimension_flow_mark(f->flow, f->roles->inputs[i].leaf, one.dimension);
    }
}

// The first of them with all others.
static void follow_all(const struct finder *f, const struct candidates *together) {
    struct candidate one = together->of[0];
    dimension_flow_clear(f->flow);
    f->flow->ties_joined = false;
    for (int i = 0; i < together->count; i++) mark_inputs(f, together->of[i]);
    dimension_flow_run(f->flow);
    f->flow->ties_joined = mark_carried(f);
    if (f->flow->ties_joined) dimension_flow_run(f->flow);
    if (!dimension_flow_is_stepped(f->flow) || is_of_cache(f, one)) return;
    if (mark_steps(f->flow, one.size)) dimension_flow_run(f->flow);
}

static void follow(const struct finder *f, struct candidate one) {
    follow_all(f, &(struct candidates){.of = {one}, .count = 1});
}

static double weights_bytes(const struct finder *f, bool only_marked) {
    double bytes = 0;
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (is_weight(f, i) && (!only_marked || f->flow->marks[f->roles->inputs[i].leaf]))
            bytes += (double)bytes_of_input(f, i);
    }
    return bytes;
}

static double buffers_bytes(const struct finder *f, bool only_marked) {
    const struct hlo_module *module = f->graph->module;
    double bytes = 0;
    for (uint32_t i = 0; i < module->buffer_count; i++) {
        uint32_t leaf = f->graph->leaf_of_buffer[i];
        if (leaf != HLO_NONE && (!only_marked || f->flow->marks[leaf])) bytes += (double)module->buffers[i].size_bytes;
    }
    return bytes;
}

static bool is_narrower(const struct array_shape *part, const struct array_shape *whole, int dimension) {
    return dimension < part->rank && part->dimensions[dimension] < whole->dimensions[dimension];
}

// Rows of examples that are at places of their own are scattered: cache.at[rows, places].set(k).
static unsigned dimensions_written_in_part(const struct dimension_flow *flow, const struct graph_node *node) {
    unsigned dimensions = 0;
    if (node->opcode == OPCODE_SCATTER) return dimensions_scattered(flow, node);
    uint32_t part = node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE ? flow_operand_leaf(flow, node, 1) : HLO_NONE;
    const struct array_shape *whole = flow_leaf(flow, node->first_leaf);
    for (int d = 0; part != HLO_NONE && d < whole->rank; d++)
        dimensions |= (unsigned)is_narrower(flow_leaf(flow, part), whole, d) << d;
    return dimensions;
}

// Is a part of a marked dimension written at a time, as tokens are into a cache?
static bool is_written_in_part(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        const struct graph_node *node = &flow->graph->nodes[i];
        if (node->leaf_count != 1 || !flow->marks[node->first_leaf]) continue;
        if (flow->marks[node->first_leaf] & dimensions_written_in_part(flow, node)) return true;
    }
    return false;
}

// Bytes that the marks reach; 0 where they are none of a sequence.
static double score(const struct finder *f, struct candidate one) {
    double reached = buffers_bytes(f, true);
    if (WEIGHTS_DIVISOR * weights_bytes(f, true) > weights_bytes(f, false)) return 0;
    if (!is_of_cache(f, one)) return reached;
    bool is_layers = dimension_flow_is_stepped(f->flow);
    return is_layers || !is_written_in_part(f->flow) ? 0 : reached;
}

// --- All of them ---

static bool is_tried(const struct candidates *tried, struct candidate one) {
    for (int i = 0; i < tried->count; i++) {
        if (tried->of[i].size == one.size && tried->of[i].dimension == one.dimension) return true;
    }
    return false;
}

static struct candidates list_candidates(const struct finder *f) {
    struct candidates tried = {.count = 0};
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        const struct array_shape *shape = is_data(f, i) ? shape_of(f, i) : NULL;
        for (int d = 0; shape && d < shape->rank && tried.count < TRIED_MAX; d++) {
            struct candidate one = {.size = shape->dimensions[d], .dimension = d};
            bool is_wanted = f->told ? one.size == f->told : one.size > 1;
            if (is_wanted && has_dimension(f, i, one) && !is_tried(&tried, one)) tried.of[tried.count++] = one;
        }
    }
    return tried;
}

static void try_each(const struct finder *f, struct candidates *tried) {
    for (int i = 0; i < tried->count; i++) {
        struct candidate *one = &tried->of[i];
        follow(f, *one);
        one->reached = score(f, *one);
        one->is_much = f->told || LEAST_DIVISOR * one->reached >= buffers_bytes(f, false);
        one->is_stepped = dimension_flow_is_stepped(f->flow);
        one->attends = sequence_stands_twice(f->flow);
    }
}

// Of two that reach nearly as much, texts and their words, the longer: [64, 2, 256] are pairs of texts of 256.
static bool is_better(const struct candidate *one, const struct candidate *best) {
    const double nearly = 0.8;
    bool is_alike = one->reached > nearly * best->reached && best->reached > nearly * one->reached;
    return is_alike ? one->size > best->size : one->reached > best->reached;
}

// What a loop takes one of at a time is time only where nothing else is a sequence: before others such are the steps of
// gradient accumulation.
static struct candidate best_of(const struct candidates *tried) {
    struct candidate best = {.is_stepped = true};
    for (int i = 0; i < tried->count; i++) {
        const struct candidate *one = &tried->of[i];
        if (one->reached <= 0 || !one->is_much) continue;
        if (one->is_stepped == best.is_stepped ? is_better(one, &best) : best.is_stepped) best = *one;
    }
    return best;
}

static bool share_an_input(const struct finder *f, struct candidate a, struct candidate b) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (has_dimension(f, i, a) && has_dimension(f, i, b)) return true;
    }
    return false;
}

static bool is_beside(const struct finder *f, const struct candidate *one, const struct candidates *chosen) {
    if (one->reached <= 0 || !one->attends || one->is_stepped || is_of_cache(f, *one)) return false;
    for (int i = 0; i < chosen->count; i++) {
        if (share_an_input(f, *one, chosen->of[i])) return false;
    }
    return true;
}

// Beside the best, lengths of other inputs that attend to themselves: questions beside answers.
static struct candidates choose(const struct finder *f, const struct candidates *tried) {
    struct candidates chosen = {.of = {best_of(tried)}, .count = 1};
    if (!chosen.of[0].size) return (struct candidates){.count = 0};
    for (int i = 0; i < tried->count && chosen.of[0].attends && !is_of_cache(f, chosen.of[0]); i++) {
        if (is_beside(f, &tried->of[i], &chosen)) chosen.of[chosen.count++] = tried->of[i];
    }
    return chosen;
}

// Is a part of a marked dimension taken that does not follow it, as windows are?
static bool is_taken_in_pieces(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        const struct graph_node *node = &flow->graph->nodes[i];
        uint32_t from = flow_operand_leaf(flow, node, 0);
        if (from == HLO_NONE || !node->leaf_count || !flow->marks[from] || flow->marks[node->first_leaf]) continue;
        struct bytes primitive = op_name_primitive(node->op_name);
        if (node->opcode == OPCODE_GATHER || bytes_equal(primitive, BYTES("gather")) ||
            bytes_equal(primitive, BYTES("slice")))
            return true;
    }
    return false;
}

// Numbers in a row that nothing is multiplied with, as they are: windows are taken of them first.
static bool are_cut(const struct finder *f, const struct candidates *tried) {
    for (int i = 0; i < tried->count; i++) {
        follow(f, tried->of[i]);
        if (weights_bytes(f, true) <= 0 && is_taken_in_pieces(f->flow)) return true;
    }
    return false;
}

// Dimensions that are the batch and nothing else take no other marks.
static bool forbid_batch(const struct finder *f, struct arena *arena) {
    uint8_t *forbidden = arena_new(arena, uint8_t, f->graph->leaf_count);
    if (!forbidden) return false;
    for (uint32_t leaf = 0; leaf < f->graph->leaf_count; leaf++) {
        const struct array_shape *shape = &f->graph->leaves[leaf];
        for (int d = 0; array_is(shape) && d < shape->rank; d++) {
            bool is_batch = (f->batch->marks[leaf] >> d & 1) && shape->dimensions[d] == f->roles->batch &&
                            !f->roles->is_one_example;
            if (is_batch) forbidden[leaf] |= (uint8_t)(1u << d);
        }
    }
    f->flow->forbidden = forbidden;
    return true;
}

// A prompt that fills half of a cache's room, or more, is as long as the room is made for: it goes with it, and the
// room with it.
static bool mark_prompt(struct dimension_flow *flow, uint32_t room, uint32_t prompt) {
    enum { MOST_DIVISOR = 2 };
    if (room == HLO_NONE || prompt == HLO_NONE) return false;
    const struct array_shape *whole = flow_leaf(flow, room), *part = flow_leaf(flow, prompt);
    uint8_t of_room = flow->marks[room], of_prompt = flow->marks[prompt];
    for (int d = 0; d < whole->rank && whole->rank == part->rank; d++) {
        if (part->dimensions[d] < whole->dimensions[d] / MOST_DIVISOR) continue;
        if (flow_is_marked(flow, room, d)) dimension_flow_mark(flow, prompt, d);
        if (flow_is_marked(flow, prompt, d)) dimension_flow_mark(flow, room, d);
    }
    return flow->marks[room] != of_room || flow->marks[prompt] != of_prompt;
}

static bool mark_prompts(struct dimension_flow *flow) {
    bool has_marked = false;
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        const struct graph_node *node = &flow->graph->nodes[i];
        if (node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE && node->leaf_count == 1)
            has_marked |= mark_prompt(flow, node->first_leaf, flow_operand_leaf(flow, node, 1));
    }
    return has_marked;
}

static int64_t count_reached(const struct finder *f) {
    int64_t count = 0;
    for (uint32_t i = 0; i < f->roles->input_count; i++)
        count += is_weight(f, i) && f->flow->marks[f->roles->inputs[i].leaf];
    return count;
}

bool sequence_find(const struct program_graph *graph, const struct program_roles *roles,
                   const struct dimension_flow *batch, const struct sequence_request *request, struct arena *arena,
                   struct sequence *sequence) {
    int64_t told = request->told;
    *sequence = (struct sequence){.is_told = told > 0};
    struct finder f = {graph, roles, batch, &sequence->flow, told, request->has_films};
    if (!dimension_flow_init(&sequence->flow, graph, arena) || !forbid_batch(&f, arena)) return false;
    sequence->flow.follows_cuts = true;
    struct candidates tried = list_candidates(&f);
    try_each(&f, &tried);
    struct candidates chosen = choose(&f, &tried);
    sequence->is_cut = !chosen.count && !told && are_cut(&f, &tried);
    dimension_flow_clear(&sequence->flow);
    if (!chosen.count) return true;
    follow_all(&f, &chosen);
    bool are_together = chosen.count > 1 && score(&f, chosen.of[0]) > 0;
    if (!are_together) follow(&f, chosen.of[0]);
    sequence->length = chosen.of[0].size;
    sequence->dimension = chosen.of[0].dimension;
    sequence->beside = are_together ? chosen.of[1].size : 0;
    sequence->beside_count = are_together ? chosen.count - 1 : 0;
    sequence->reached = count_reached(&f);
    sequence->is_stepped = dimension_flow_is_stepped(&sequence->flow);
    if (!roles->is_training && mark_prompts(&sequence->flow)) dimension_flow_run(&sequence->flow);
    dimension_flow_find_doubled(&sequence->flow);
    if (sequence->flow.doubled.count) dimension_flow_run(&sequence->flow);
    return true;
}
