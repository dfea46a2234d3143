#include "analysis/advice/program_roles.h"

#include "analysis/advice/dimension_ties.h"
#include "analysis/advice/edges_and_nodes.h"
#include "analysis/advice/role_finder.h"
#include "analysis/advice/row_counts.h"
#include "analysis/program/op_name.h"

enum { BATCH_DIMENSIONS_MAX = 3 };  // [steps, batch, length], [layers, batch, ...]
enum { FOLLOWED_MAX = 64 };         // inputs that are followed alone: each costs a walk through the program

// --- Inputs and outputs ---

static void find_allocations(const struct hlo_module *module, struct program_roles *roles) {
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        if (!a->is_entry_parameter || a->parameter_number < 0 || a->parameter_number >= roles->input_count) continue;
        struct entry_input *input = &roles->inputs[a->parameter_number];
        if (input->allocation != HLO_NONE && a->is_tuple) continue;
        input->allocation = i;
        input->is_donated = a->maybe_live_out;
    }
}

static bool list_inputs(struct finder *f, struct arena *arena) {
    const struct graph_computation *entry = &f->graph->computations[f->graph->entry];
    struct program_roles *roles = f->roles;
    roles->input_count = entry->parameter_count;
    roles->inputs = arena_new(arena, struct entry_input, roles->input_count);
    if (!roles->inputs) return false;
    for (uint32_t i = 0; i < roles->input_count; i++) {
        uint32_t node = graph_parameter(f->graph, f->graph->entry, i);
        bool is_array = node != HLO_NONE && f->graph->nodes[node].leaf_count == 1;
        roles->inputs[i] = (struct entry_input){
            .leaf = is_array ? f->graph->nodes[node].first_leaf : HLO_NONE, .allocation = HLO_NONE, .mirror = HLO_NONE};
    }
    find_allocations(f->graph->module, roles);
    return true;
}

static bool list_outputs(struct finder *f, struct arena *arena) {
    uint32_t root = f->graph->computations[f->graph->entry].root;
    if (root == HLO_NONE) return true;
    const struct graph_node *node = &f->graph->nodes[root];
    f->roles->output_count = node->leaf_count;
    f->roles->outputs = arena_new(arena, struct entry_output, node->leaf_count);
    if (!f->roles->outputs) return false;
    for (uint32_t i = 0; i < node->leaf_count; i++)
        f->roles->outputs[i] = (struct entry_output){node->first_leaf + i, HLO_NONE};
    return true;
}

static bool is_alike(const struct program_graph *graph, uint32_t a, uint32_t b) {
    return graph->leaves[a].element_type == graph->leaves[b].element_type &&
           array_same_dimensions(&graph->leaves[a], &graph->leaves[b]);
}

// Inputs and outputs come in much the same order, so the search goes on from the last pair; a bound keeps thousands of
// outputs of one shape and no free input from costing their square.
static void pair(struct finder *f) {
    struct program_roles *roles = f->roles;
    uint64_t steps = 0, steps_max = 64 * ((uint64_t)roles->input_count + roles->output_count) + (1u << 20);
    uint32_t first_free = 0;
    for (uint32_t o = 0; o < roles->output_count; o++) {
        while (first_free < roles->input_count && roles->inputs[first_free].mirror != HLO_NONE) first_free++;
        for (uint32_t i = first_free; i < roles->input_count && steps < steps_max; i++, steps++) {
            struct entry_input *input = &roles->inputs[i];
            if (input->mirror != HLO_NONE || input->leaf == HLO_NONE) continue;
            if (!is_alike(f->graph, input->leaf, roles->outputs[o].leaf)) continue;
            input->mirror = o;
            roles->outputs[o].mirror = i;
            break;
        }
    }
}

static bool is_training(const struct program_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (op_name_phase(graph->nodes[i].op_name) == PHASE_BACKWARD) return true;
    }
    return false;
}

// --- The batch ---

static int64_t marked_bytes(const struct array_shape *shape, uint8_t marks) {
    int64_t bytes = marks ? array_shape_bytes(shape) : 0;
    return bytes > 0 ? bytes : 0;
}

// Bytes of buffers that the marks reach, and before all of outputs that lead with them.
static double score(const struct finder *f) {
    const struct program_graph *graph = f->graph;
    double outputs = 0, buffers = 0;
    for (uint32_t i = 0; i < f->roles->output_count; i++) {
        uint32_t leaf = f->roles->outputs[i].leaf;
        if (f->flow->marks[leaf] & 1) outputs += (double)marked_bytes(&graph->leaves[leaf], f->flow->marks[leaf]);
    }
    for (uint32_t i = 0; i < graph->module->buffer_count; i++) {
        uint32_t leaf = graph->leaf_of_buffer[i];
        if (leaf != HLO_NONE && f->flow->marks[leaf]) buffers += (double)graph->module->buffers[i].size_bytes;
    }
    return f->roles->is_training ? buffers : 1024 * outputs + buffers;
}

// What random numbers are drawn by: u32[2] of Threefry, u32[4] of Philox.
static bool is_random_key(const struct array_shape *shape) {
    enum { U32 = 8, THREEFRY_WORDS = 2, PHILOX_WORDS = 4 };
    return shape->element_type == U32 && shape->rank == 1 &&
           (shape->dimensions[0] == THREEFRY_WORDS || shape->dimensions[0] == PHILOX_WORDS);
}

static int64_t size_of_dimension(const struct finder *f, uint32_t input, int dimension) {
    uint32_t leaf = f->roles->inputs[input].leaf;
    const struct array_shape *shape = leaf == HLO_NONE ? NULL : &f->graph->leaves[leaf];
    bool has_dimension = shape && array_is(shape) && shape->rank > dimension && !is_random_key(shape);
    return has_dimension && shape->dimensions[dimension] > 1 ? shape->dimensions[dimension] : 0;
}

static int64_t leading_dimension(const struct finder *f, uint32_t input) {
    return size_of_dimension(f, input, 0);
}

// Weights of a program that trains nothing may lead with the batch's size, but only what is returned changed has it
// further back, as a cache has.
static bool may_have_batch(const struct finder *f, uint32_t input, int dimension) {
    const struct entry_input *in = &f->roles->inputs[input];
    if (in->leaf == HLO_NONE || in->is_state || (in->is_stack && dimension == 0)) return false;
    return f->roles->is_training || dimension == 0 || in->mirror != HLO_NONE || is_integer(f, input);
}

static void mark_inputs(struct finder *f, int64_t batch, int dimension) {
    dimension_flow_clear(f->flow);
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (may_have_batch(f, i, dimension) && size_of_dimension(f, i, dimension) == batch)
            dimension_flow_mark(f->flow, f->roles->inputs[i].leaf, dimension);
    }
    dimension_flow_run(f->flow);
}

static void follow_one(struct finder *f, uint32_t input) {
    dimension_flow_clear(f->flow);
    dimension_flow_mark(f->flow, f->roles->inputs[input].leaf, 0);
    dimension_flow_run(f->flow);
}

// As many layers as examples: inputs of `size` are followed one at a time, and those that a loop then takes one by one
// are set aside for good. The flow is left with the marks of the last.
static void set_stacks_aside(struct finder *f, int64_t size) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        struct entry_input *input = &f->roles->inputs[i];
        if (input->is_followed || !may_have_batch(f, i, 0) || leading_dimension(f, i) != size) continue;
        if (f->followed++ >= FOLLOWED_MAX) return;
        follow_one(f, i);
        input->is_followed = true;
        input->is_stack = dimension_flow_is_stepped(f->flow);
    }
}

// Marks all of that size which are no layers. False: a loop takes them all one by one, as steps, or there are none.
static bool mark_no_steps(struct finder *f, int64_t size, int dimension) {
    mark_inputs(f, size, dimension);
    if (dimension == 0 && dimension_flow_is_stepped(f->flow)) {
        set_stacks_aside(f, size);
        mark_inputs(f, size, dimension);
    }
    return dimension_flow_has_marks(f->flow) && !dimension_flow_is_stepped(f->flow);
}

// Numbers lie in the last dimension of rows of them; integers are no rows.
static bool is_features(const struct finder *f, uint32_t input, int dimension) {
    return dimension > 0 && !is_integer(f, input) &&
           dimension + 1 == f->graph->leaves[f->roles->inputs[input].leaf].rank;
}

struct found {  // of the dimensions that were tried, the one that reaches most
    int64_t size;
    uint32_t input;
    int dimension;
    double reached;
};

// Bytes with a sign or without, and halves of bytes, hold weights that were packed. Bytes without one can be pictures
// and words just as well.
static bool may_be_packed(int type) {
    return type == ELEMENT_TYPE_S8 || type == ELEMENT_TYPE_U8 || type == ELEMENT_TYPE_S4 || type == ELEMENT_TYPE_U4;
}

// Colours of pictures come last.
static bool is_of_pictures(const struct array_shape *shape) {
    enum { COLOURS_MAX = 4 };
    return shape->element_type == ELEMENT_TYPE_U8 && shape->rank >= 4 &&
           shape->dimensions[shape->rank - 1] <= COLOURS_MAX;
}

// Products of the forward pass sum over what a weight has, and over no batch.
static bool is_summed_forward(const struct finder *f) {
    for (uint32_t i = 0; i < f->graph->node_count; i++) {
        const struct graph_node *node = &f->graph->nodes[i];
        if (op_name_phase(node->op_name) == PHASE_FORWARD && dimension_ties_is_contracted(f->flow, node)) return true;
    }
    return false;
}

static bool is_packed_weight(const struct finder *f, uint32_t input) {
    const struct array_shape *shape = &f->graph->leaves[f->roles->inputs[input].leaf];
    return may_be_packed(shape->element_type) && !is_of_pictures(shape) && is_summed_forward(f);
}

// Instead of one that turned out to be a stack: the first that has its size, and is no stack.
static uint32_t no_stack(const struct finder *f, uint32_t input, int64_t size, int dimension) {
    if (may_have_batch(f, input, dimension)) return input;
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (may_have_batch(f, i, dimension) && size_of_dimension(f, i, dimension) == size) return i;
    }
    return input;
}

// The data input whose dimension of that number reaches most; where an earlier one may be the batch, not what products
// of the forward pass sum over, as the time that attention looks back at. Integers first: nobody trains them. What a
// loop takes one of at a time are steps: of gradient accumulation, of time.
static struct found try_data(struct finder *f, bool only_integers, int dimension, bool has_earlier) {
    enum { CANDIDATES_MAX = 12 };
    struct found best = {.dimension = dimension};
    int64_t tried[CANDIDATES_MAX];
    int tried_count = 0;
    for (uint32_t i = 0; i < f->roles->input_count && tried_count < CANDIDATES_MAX; i++) {
        int64_t size = f->roles->inputs[i].is_state ? 0 : size_of_dimension(f, i, dimension);
        bool is_known = !size || (only_integers && !is_integer(f, i)) || is_features(f, i, dimension);
        for (int k = 0; k < tried_count; k++) is_known |= tried[k] == size;
        if (is_known) continue;
        tried[tried_count++] = size;
        bool is_batch = mark_no_steps(f, size, dimension);
        double reached = score(f);
        if (reached <= best.reached || !is_batch) continue;
        uint32_t input = no_stack(f, i, size, dimension);
        if (has_earlier && is_summed_forward(f)) continue;
        if (!is_packed_weight(f, input)) best = (struct found){size, input, dimension, reached};
    }
    return best;
}

static void choose(struct finder *f, struct found found) {
    f->roles->batch = found.size;
    f->roles->batch_input = found.input;
    f->roles->batch_dimension = found.dimension;
}

// An earlier dimension is the batch unless a later one reaches far more: the time of [time, batch, ...] is cut and
// shifted, and ends there.
static void try_dimensions(struct finder *f, bool only_integers) {
    const double far_more = 1.5;
    struct found best = {0};
    for (int d = 0; d < BATCH_DIMENSIONS_MAX; d++) {
        struct found one = try_data(f, only_integers, d, best.size > 0);
        if (one.reached > best.reached * (best.size ? far_more : 1)) best = one;
    }
    if (best.size) choose(f, best);
}

// --- The batch without training: weights are inputs like any other ---

enum { ALL_TRIED_MAX = 16 };

struct candidates {
    uint32_t tried[ALL_TRIED_MAX];
    int tried_count;
    int best_rank;  // enum batch_rank
    double best_score;
};

enum batch_rank { BATCH_NONE, BATCH_MIXED, BATCH_CLEAN };

// `marks`: of which dimensions.
static bool reaches_an_output(const struct finder *f, uint8_t marks) {
    for (uint32_t i = 0; i < f->roles->output_count; i++) {
        if (f->flow->marks[f->roles->outputs[i].leaf] & marks) return true;
    }
    return false;
}

// Do the marks reach other inputs elsewhere than in front?
static bool crosses_inputs(const struct finder *f) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        uint32_t leaf = f->roles->inputs[i].leaf;
        if (leaf != HLO_NONE && (f->flow->marks[leaf] & ~1u)) return true;
    }
    return false;
}

// A weight's dimension is summed over, and is also one of what the weight is multiplied with. A batch is neither, but
// a sequence attends to itself, and a cache has its layers in front: those still lead an output. That of integers,
// which are no weights, need not lead: what was said at each step, and caches by time, have it further back.
static enum batch_rank rank_marks(const struct finder *f, uint32_t input) {
    bool is_contracted = dimension_flow_is_contracted(f->flow), is_crossing = crosses_inputs(f);
    if (!is_contracted && !is_crossing) return BATCH_CLEAN;
    uint8_t where = !is_contracted && is_integer(f, input) ? UINT8_MAX : 1;
    return (is_contracted && is_crossing) || !reaches_an_output(f, where) ? BATCH_NONE : BATCH_MIXED;
}

static bool is_tried(const struct finder *f, const struct candidates *c, uint32_t input, bool is_once_a_shape) {
    for (int k = 0; k < c->tried_count; k++) {
        if (c->tried[k] == input) return true;
        if (is_once_a_shape && is_alike(f->graph, f->roles->inputs[input].leaf, f->roles->inputs[c->tried[k]].leaf))
            return true;
    }
    return false;
}

// Of two as long, one may be alone with its marks: text that only a loop of the compiler's own writes into.
static bool is_better(const struct finder *f, const struct candidates *c, uint32_t input, int rank, double reached) {
    const double far_more = 16;
    double least = leading_dimension(f, input) == f->roles->batch ? c->best_score / far_more : 0;
    if (rank == BATCH_NONE || reached <= least) return false;
    if (least > 0 && reached > far_more * c->best_score) return true;
    return rank == c->best_rank ? reached > c->best_score : rank > c->best_rank;
}

static void try_one(struct finder *f, struct candidates *c, uint32_t input) {
    c->tried[c->tried_count++] = input;
    follow_one(f, input);
    int rank = (int)rank_marks(f, input);
    double reached = score(f);
    if (!is_better(f, c, input, rank, reached)) return;
    c->best_rank = rank;
    c->best_score = reached;
    choose(f, (struct found){.size = leading_dimension(f, input), .input = input, .reached = reached});
}

// Of bytes without a sign and given back changed, beyond rows of text: a cache, whose layers lead.
static bool is_packed_cache(const struct finder *f, uint32_t input) {
    const struct array_shape *shape = input_shape(f, input);
    return f->roles->inputs[input].mirror != HLO_NONE && shape->rank > 2 && may_be_packed(shape->element_type);
}

static void try_all(struct finder *f, bool only_integers) {
    struct candidates c = {.best_rank = BATCH_NONE};
    for (int round = 0; round < 2 && !f->roles->batch; round++) {
        for (uint32_t i = 0; i < f->roles->input_count && c.tried_count < ALL_TRIED_MAX; i++) {
            if (!leading_dimension(f, i)) continue;
            if (only_integers && (!is_integer(f, i) || is_packed_cache(f, i))) continue;
            if (!is_tried(f, &c, i, round == 0)) try_one(f, &c, i);
        }
    }
}

static void try_inputs(struct finder *f, bool only_integers) {
    if (f->roles->is_training)
        try_dimensions(f, only_integers);
    else
        try_all(f, only_integers);
}

// The first dimension of that size which is no steps. Where there is none, what has it in front and is no stack: of as
// many steps, nothing.
static void mark_told(struct finder *f, int64_t batch) {
    for (int d = 0; d < BATCH_DIMENSIONS_MAX; d++) {
        f->roles->batch_dimension = d;
        if (mark_no_steps(f, batch, d)) return;
    }
    f->roles->batch_dimension = 0;
    mark_inputs(f, batch, 0);
}

static void mark_batch(struct finder *f, int64_t batch) {
    struct program_roles *roles = f->roles;
    roles->batch_input = HLO_NONE;
    roles->is_batch_told = batch > 0;
    if (batch > 0) {
        roles->batch = batch;
        mark_told(f, batch);
        return;
    }
    try_inputs(f, true);
    if (!roles->batch) try_inputs(f, false);
    dimension_flow_clear(f->flow);
    if (!roles->batch) return;
    if (roles->is_training)
        mark_inputs(f, roles->batch, roles->batch_dimension);
    else
        follow_one(f, roles->batch_input);
}

// --- Examples, and weights that nobody trains ---

// The first dimensions of inputs that follow the batch: the batch, and the nodes of a graph whose edges it is.
static struct row_counts list_followed(const struct finder *f) {
    struct row_counts followed = {.rows = {f->roles->batch}, .count = 1};
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        uint32_t leaf = f->roles->inputs[i].leaf;
        if (leaf != HLO_NONE && flow_is_marked(f->flow, leaf, 0)) row_counts_add(&followed, leading_dimension(f, i));
    }
    return followed;
}

// Integers may number the ends of edges that all examples share: then rows of the examples reach more than the edges
// do, or as much as the whole graph. What products of the forward pass sum over is the width of weights that nobody
// trains.
static bool are_examples_elsewhere(struct finder *f, struct found *examples) {
    const double more = 1.1, as_much = 0.95;
    double reached = score(f) * (f->roles->is_graph ? as_much : more);
    if (f->roles->is_batch_told || !is_integer(f, f->roles->batch_input)) return false;
    struct row_counts followed = list_followed(f);
    *examples = try_data(f, false, 0, false);
    if (row_counts_have(&followed, examples->size) || examples->reached <= reached) return false;
    mark_inputs(f, examples->size, examples->dimension);
    return !is_summed_forward(f);
}

static void find_frozen(struct finder *f) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        struct entry_input *input = &f->roles->inputs[i];
        input->is_packed = is_other_array(f, i) && may_be_packed(f->graph->leaves[input->leaf].element_type) &&
                           !is_of_pictures(&f->graph->leaves[input->leaf]);
        input->is_frozen = input->is_packed || has_rows_of_numbers(f, i);
    }
}

// Words of one example: their length was found in the batch's place.
static bool is_one_example(const struct finder *f) {
    const struct program_roles *roles = f->roles;
    if (!roles->is_training || roles->batch_input == HLO_NONE || roles->batch_dimension != 1) return false;
    const struct array_shape *shape = &f->graph->leaves[roles->inputs[roles->batch_input].leaf];
    return is_integer(f, roles->batch_input) && shape->rank == 2 && shape->dimensions[0] == 1;
}

// One example may be told, too: it is looked for as if it were not.
static void mark_examples(struct finder *f, int64_t told) {
    mark_batch(f, told == 1 ? 0 : told);
    f->roles->is_one_example = is_one_example(f);
    f->roles->is_batch_told = told > 0;
    if (told == 1 && !f->roles->is_one_example) mark_batch(f, told);
}

static void choose_ends(struct finder *f) {
    uint32_t ends = f->roles->is_batch_told ? HLO_NONE : edges_and_nodes_ends(f);
    if (ends == HLO_NONE) return;
    choose(f, (struct found){.size = input_shape(f, ends)->dimensions[0], .input = ends});
    mark_inputs(f, f->roles->batch, f->roles->batch_dimension);
}

static bool find_batch(struct finder *f, int64_t batch, struct arena *arena) {
    struct found examples;
    mark_examples(f, batch);
    if (!f->roles->is_training || !dimension_flow_has_marks(f->flow)) return true;
    choose_ends(f);
    if (!edges_and_nodes_find(f, arena)) return false;
    if (!f->roles->is_one_example && are_examples_elsewhere(f, &examples)) choose(f, examples);
    mark_inputs(f, f->roles->batch, f->roles->batch_dimension);
    if (!edges_and_nodes_find(f, arena)) return false;
    find_frozen(f);
    return true;
}

static void mark_state(struct finder *f) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        struct entry_input *input = &f->roles->inputs[i];
        input->is_state = f->roles->is_training && input->mirror != HLO_NONE;
        if (input->is_state) f->flow->is_blocked[input->leaf] = 1;
    }
}

// False at the arena's limit, as the steps that it takes.
static bool find_roles(struct finder *f, int64_t batch, struct arena *arena) {
    bool has_room = dimension_flow_init(f->flow, f->graph, arena);
    f->flow->ties_joined = true;
    if (has_room && f->graph->entry != HLO_NONE) has_room = list_inputs(f, arena) && list_outputs(f, arena);
    if (!has_room) return false;
    pair(f);
    f->roles->is_training = is_training(f->graph);
    mark_state(f);
    return find_batch(f, batch, arena);
}

bool program_roles_find(const struct program_graph *graph, int64_t batch, struct arena *arena,
                        struct program_roles *roles, struct dimension_flow *flow, struct error *error) {
    *roles = (struct program_roles){.batch_input = HLO_NONE};
    struct finder f = {.graph = graph, .roles = roles, .flow = flow};
    if (find_roles(&f, batch, arena)) return true;
    return error_set(error, ERROR_TOO_BIG, "no memory left to follow the program's dimensions");
}
