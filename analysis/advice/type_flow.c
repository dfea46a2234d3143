#include "analysis/advice/type_flow.h"

#include "analysis/advice/fetched.h"
#include "analysis/hlo/element_type.h"
#include "analysis/program/leaf_links.h"
#include "analysis/program/library_call.h"
#include "analysis/program/op_name.h"

enum { PASSES_MAX = 64 };

enum origin {
    ORIGIN_OTHER,
    ORIGIN_INPUT,
    ORIGIN_FETCHED,
    ORIGIN_PART,
    ORIGIN_CAST_COPY,
    ORIGIN_CAST_COPY_OF_FETCHED,
    ORIGIN_CAST_PART,
    ORIGIN_CAST_STACK,
};

struct runner {
    const struct program_graph *graph;
    struct type_flow *flow;
    uint8_t *origins;
    bool has_changed;
    bool judges_products;
};

static bool is_type(const struct runner *r, uint32_t leaf, int type) {
    return r->graph->leaves[leaf].element_type == type && array_is(&r->graph->leaves[leaf]);
}

static void raise(struct runner *r, uint32_t leaf, uint8_t class) {
    if (r->flow->classes[leaf] >= class) return;
    r->flow->classes[leaf] = class;
    r->has_changed = true;
}

static void set_origin(struct runner *r, uint32_t leaf, uint8_t origin) {
    if (r->origins[leaf] != ORIGIN_OTHER || origin == ORIGIN_OTHER) return;
    r->origins[leaf] = origin;
    r->has_changed = true;
}

static void hand_on(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct runner *r = context;
    for (uint32_t i = 0; i < count; i++) {
        raise(r, first_to + i, r->flow->classes[first_from + i]);
        set_origin(r, first_to + i, r->origins[first_from + i]);
    }
}

static uint8_t class_of_operands(const struct runner *r, const struct graph_node *node) {
    uint8_t class = TYPE_STAYS;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(r->graph, node, i);
        if (operand == HLO_NONE) continue;
        const struct graph_node *from = &r->graph->nodes[operand];
        for (uint32_t l = 0; l < from->leaf_count && l < 16; l++) {
            uint8_t other = r->flow->classes[from->first_leaf + l];
            if (other > class) class = other;
        }
    }
    return class;
}

static bool is_copying(enum opcode opcode) {
    return opcode == OPCODE_COPY || opcode == OPCODE_COPY_START || opcode == OPCODE_COPY_DONE ||
           opcode == OPCODE_BITCAST || opcode == OPCODE_TRANSPOSE || opcode == OPCODE_RESHAPE ||
           opcode == OPCODE_CONVERT;
}

// The leaf that an operation makes a copy of, takes a part of, or writes into another.
static uint32_t copied(const struct runner *r, const struct graph_node *node) {
    uint32_t operand = graph_operand(r->graph, node, node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE ? 1 : 0);
    if (node->opcode == OPCODE_CUSTOM_CALL) return fetched_from(r->graph, node);
    bool is_of_parts = node->opcode == OPCODE_DYNAMIC_SLICE || node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE;
    bool goes_on = is_of_parts || is_copying(node->opcode);
    return operand == HLO_NONE || !goes_on ? HLO_NONE : r->graph->nodes[operand].first_leaf;
}

static uint8_t origin_of_copy(enum opcode opcode, uint8_t from, bool is_fetched, bool is_bf16) {
    if (opcode == OPCODE_DYNAMIC_SLICE) return from == ORIGIN_INPUT ? ORIGIN_PART : ORIGIN_OTHER;
    if (opcode == OPCODE_DYNAMIC_UPDATE_SLICE) return from == ORIGIN_CAST_PART ? ORIGIN_CAST_STACK : ORIGIN_OTHER;
    if (from == ORIGIN_PART && is_bf16) return ORIGIN_CAST_PART;
    if (from == ORIGIN_OTHER || from == ORIGIN_PART || from >= ORIGIN_CAST_PART) return from;
    is_fetched |= from == ORIGIN_FETCHED || from == ORIGIN_CAST_COPY_OF_FETCHED;
    if (is_bf16 || from == ORIGIN_CAST_COPY) return is_fetched ? ORIGIN_CAST_COPY_OF_FETCHED : ORIGIN_CAST_COPY;
    return is_fetched && from == ORIGIN_INPUT ? ORIGIN_FETCHED : from;
}

static void follow_origin(struct runner *r, const struct graph_node *node) {
    uint32_t from = copied(r, node);
    if (from == HLO_NONE) return;
    for (uint32_t l = 0; l < node->leaf_count; l++) {
        uint32_t leaf = node->first_leaf + l;
        bool is_fetched = node->opcode == OPCODE_CUSTOM_CALL, is_bf16 = is_type(r, leaf, ELEMENT_TYPE_BF16);
        set_origin(r, leaf, origin_of_copy(node->opcode, r->origins[from], is_fetched, is_bf16));
    }
}

bool type_flow_is_rounded(const struct type_flow *flow, const struct program_graph *graph, uint32_t leaf) {
    return graph->leaves[leaf].element_type == ELEMENT_TYPE_BF16 && flow->classes[leaf] == TYPE_NARROW;
}

bool type_flow_is_users_conversion(const struct graph_node *node) {
    return node->opcode == OPCODE_CONVERT &&
           bytes_equal(op_name_primitive(node->op_name), BYTES("convert_element_type"));
}

static uint8_t class_of_result(const struct runner *r, const struct graph_node *node) {
    uint8_t class = class_of_operands(r, node);
    bool is_f32 = is_type(r, node->first_leaf, ELEMENT_TYPE_F32);
    uint32_t operand = graph_operand(r->graph, node, 0);
    if (type_flow_is_users_conversion(node) && operand != HLO_NONE) {
        uint32_t from = r->graph->nodes[operand].first_leaf;
        bool is_wider = is_type(r, from, ELEMENT_TYPE_BF16) || is_type(r, from, ELEMENT_TYPE_F16);
        if (is_f32 && is_wider) return TYPE_WIDE;
        return is_f32 ? class : TYPE_STAYS;
    }
    if (r->judges_products && library_call_is_product(node) && is_f32 && class == TYPE_STAYS) return TYPE_WIDE;
    return class;
}

static void apply(struct runner *r, uint32_t index) {
    const struct graph_node *node = &r->graph->nodes[index];
    if (leaf_links_visit(r->graph, index, hand_on, r)) return;
    if (node->opcode == OPCODE_PARAMETER || node->opcode == OPCODE_CONSTANT || node->opcode == OPCODE_IOTA) return;
    follow_origin(r, node);
    uint8_t class = class_of_result(r, node);
    for (uint32_t l = 0; l < node->leaf_count; l++) {
        bool is_float = is_type(r, node->first_leaf + l, ELEMENT_TYPE_F32) ||
                        is_type(r, node->first_leaf + l, ELEMENT_TYPE_BF16);
        if (is_float) raise(r, node->first_leaf + l, class);
    }
}

static int64_t dimensions_key(const struct array_shape *shape) {
    return id_map_key((struct bytes){(const uint8_t *)shape->dimensions, shape->rank * sizeof shape->dimensions[0]});
}

static bool is_wide_state(const struct runner *r, const struct entry_input *input) {
    bool is_state = input->leaf != HLO_NONE && input->is_state;
    return is_state && is_type(r, input->leaf, ELEMENT_TYPE_F32) && r->graph->leaves[input->leaf].rank > 0;
}

// The same for the same dimensions in any order.
static int64_t turned_key(const struct array_shape *shape) {
    struct array_shape sorted = *shape;
    for (int i = 1; i < sorted.rank; i++) {
        for (int k = i; k > 0 && sorted.dimensions[k] < sorted.dimensions[k - 1]; k--) {
            int64_t one = sorted.dimensions[k];
            sorted.dimensions[k] = sorted.dimensions[k - 1];
            sorted.dimensions[k - 1] = one;
        }
    }
    return dimensions_key(&sorted);
}

// A copy of an input, as which a loop over another axis than the first has its stacks, and their gradients.
static bool may_be_turned(const struct runner *r, const struct dimension_flow *batch, uint32_t leaf) {
    bool is_wide = is_type(r, leaf, ELEMENT_TYPE_F32) && r->graph->leaves[leaf].rank > 1;
    return is_wide && r->origins[leaf] == ORIGIN_INPUT && !batch->marks[leaf];
}

static bool find_stored_shapes(const struct runner *r, const struct program_roles *roles,
                               const struct dimension_flow *batch, struct arena *arena, struct id_map *shapes) {
    struct id_map turned;
    size_t count = roles->input_count;
    for (uint32_t leaf = 0; leaf < r->graph->leaf_count; leaf++) count += may_be_turned(r, batch, leaf);
    if (!id_map_init(shapes, arena, count) || !id_map_init(&turned, arena, roles->input_count)) return false;
    for (uint32_t i = 0; i < roles->input_count; i++) {
        if (!is_wide_state(r, &roles->inputs[i])) continue;
        uint32_t leaf = roles->inputs[i].leaf;
        id_map_put(shapes, dimensions_key(&r->graph->leaves[leaf]), leaf);
        id_map_put(&turned, turned_key(&r->graph->leaves[leaf]), leaf);
    }
    for (uint32_t leaf = 0; leaf < r->graph->leaf_count; leaf++) {
        const struct array_shape *shape = &r->graph->leaves[leaf];
        if (may_be_turned(r, batch, leaf) && id_map_get(&turned, turned_key(shape)) != ID_MAP_NONE)
            id_map_put(shapes, dimensions_key(shape), leaf);
    }
    return true;
}

// Gradients and updates: float32, of the dimensions of the state or of a turned copy of it, and no activation.
static bool narrow_updates(struct runner *r, const struct program_roles *roles, const struct dimension_flow *batch,
                           struct arena *arena) {
    struct id_map shapes;
    if (!find_stored_shapes(r, roles, batch, arena, &shapes)) return false;
    for (uint32_t leaf = 0; leaf < r->graph->leaf_count; leaf++) {
        if (!is_type(r, leaf, ELEMENT_TYPE_F32) || batch->marks[leaf]) continue;
        uint32_t like = id_map_get(&shapes, dimensions_key(&r->graph->leaves[leaf]));
        if (like == ID_MAP_NONE || !array_same_dimensions(&r->graph->leaves[like], &r->graph->leaves[leaf])) continue;
        r->flow->classes[leaf] = TYPE_NARROW;
    }
    return true;
}

static void start(struct runner *r, const struct program_roles *roles) {
    for (uint32_t i = 0; i < roles->input_count; i++) {
        uint32_t leaf = roles->inputs[i].leaf;
        if (leaf == HLO_NONE || !is_type(r, leaf, ELEMENT_TYPE_F32)) continue;
        r->flow->classes[leaf] = TYPE_NARROW;
        r->origins[leaf] = ORIGIN_INPUT;
    }
}

static void hand_leaves_back(struct runner *r, uint32_t first_to, uint32_t first_from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = first_to + i, from = first_from + i;
        if (is_type(r, to, ELEMENT_TYPE_F32)) raise(r, to, r->flow->classes[from]);
        if (r->origins[from] == ORIGIN_CAST_STACK) set_origin(r, to, ORIGIN_CAST_STACK);
    }
}

// What a fusion does in place of an array, it does in place of what it is given.
static void hand_back_to_operands(struct runner *r, const struct graph_node *fusion) {
    uint32_t computation = fusion->called_count ? r->graph->called[fusion->first_called] : HLO_NONE;
    for (uint32_t i = 0; computation < r->graph->computation_count && i < fusion->operand_count; i++) {
        uint32_t operand = graph_operand(r->graph, fusion, i), inner = graph_parameter(r->graph, computation, i);
        if (operand == HLO_NONE || inner == HLO_NONE || r->graph->nodes[operand].leaf_count != 1) continue;
        if (r->graph->nodes[inner].leaf_count != 1) continue;
        hand_leaves_back(r, r->graph->nodes[operand].first_leaf, r->graph->nodes[inner].first_leaf, 1);
    }
}

// What a loop is given lies where its result does, so that both are of one type: the zeros that a stack begins with are
// of the type of what is stacked, and those that rows are added to of the type of the rows.
static void hand_back(struct runner *r, const struct graph_node *node) {
    uint32_t given = graph_operand(r->graph, node, 0);
    if (given == HLO_NONE || node->leaf_count == 0) return;
    const struct graph_node *from = &r->graph->nodes[given];
    if (node->opcode == OPCODE_WHILE && from->leaf_count == node->leaf_count)
        hand_leaves_back(r, from->first_leaf, node->first_leaf, from->leaf_count);
    if (node->opcode == OPCODE_GET_TUPLE_ELEMENT && from->elements.count == from->leaf_count && node->number >= 0 &&
        node->number < from->leaf_count)
        hand_leaves_back(r, from->first_leaf + (uint32_t)node->number, node->first_leaf, 1);
    if (node->opcode == OPCODE_SCATTER && node->leaf_count == 1 && from->leaf_count == 1)
        hand_leaves_back(r, from->first_leaf, node->first_leaf, 1);
    if (node->opcode == OPCODE_FUSION) hand_back_to_operands(r, node);
    bool is_flat_tuple = node->opcode == OPCODE_TUPLE && node->elements.count == node->leaf_count;
    for (uint32_t i = 0; is_flat_tuple && i < node->leaf_count; i++) {
        uint32_t operand = graph_operand(r->graph, node, i);
        if (operand != HLO_NONE && r->graph->nodes[operand].leaf_count == 1)
            hand_leaves_back(r, r->graph->nodes[operand].first_leaf, node->first_leaf + i, 1);
    }
}

static void hand_all_back(struct runner *r) {
    enum { DEEP = 4 };  // fusions, and what they call, come before what calls them
    r->has_changed = true;
    for (int pass = 0; pass < DEEP && r->has_changed; pass++) {
        r->has_changed = false;
        for (uint32_t i = r->graph->node_count; i-- > 0;) hand_back(r, &r->graph->nodes[i]);
    }
}

static bool is_of_field(const struct runner *r, const struct entry_input *input, struct bytes field) {
    if (input->leaf == HLO_NONE) return false;
    return bytes_contains(r->graph->nodes[r->graph->node_of_leaf[input->leaf]].op_name, field);
}

// Adafactor's momentum, which optax keeps in float32 whatever the weights are: its ema of what factored rows and
// columns scale (optax/_src/alias.py, adafactor: dtype_momentum).
static void widen_momentum(struct runner *r, const struct program_roles *roles) {
    bool is_factored = false;
    for (uint32_t i = 0; i < roles->input_count && !is_factored; i++)
        is_factored = is_of_field(r, &roles->inputs[i], BYTES(".v_row["));
    for (uint32_t i = 0; i < roles->input_count && is_factored; i++) {
        const struct entry_input *input = &roles->inputs[i];
        if (!input->is_state || !is_of_field(r, input, BYTES(".ema["))) continue;
        r->flow->classes[input->leaf] = r->flow->classes[roles->outputs[input->mirror].leaf] = TYPE_WIDE;
    }
}

static uint8_t cast_copy_by(uint8_t origin) {
    static const uint8_t copies[] = {[ORIGIN_CAST_COPY] = CAST_COPY_OF_INPUT,
                                     [ORIGIN_CAST_COPY_OF_FETCHED] = CAST_COPY_OF_FETCHED,
                                     [ORIGIN_CAST_PART] = CAST_COPY_OF_PART,
                                     [ORIGIN_CAST_STACK] = CAST_COPY_STACKED};
    return copies[origin];
}

static void finish(struct runner *r, const struct program_roles *roles) {
    for (uint32_t i = 0; i < roles->output_count; i++) {
        uint32_t leaf = roles->outputs[i].leaf;
        if (roles->outputs[i].mirror != HLO_NONE && is_type(r, leaf, ELEMENT_TYPE_F32))
            r->flow->classes[leaf] = TYPE_NARROW;
    }
    widen_momentum(r, roles);
    for (uint32_t leaf = 0; leaf < r->graph->leaf_count; leaf++)
        r->flow->cast_copies[leaf] = cast_copy_by(r->origins[leaf]);
}

static void run_passes(struct runner *r) {
    r->has_changed = true;
    for (int pass = 0; pass < PASSES_MAX && r->has_changed; pass++) {
        r->has_changed = false;
        for (uint32_t i = 0; i < r->graph->walk.count; i++) apply(r, r->graph->walk.nodes[i]);
    }
}

// A float32 product of bfloat16 arrays is the user's wish only when those come from no float32 input, which is known
// after the first run.
bool type_flow_run(const struct program_graph *graph, const struct program_roles *roles,
                   const struct dimension_flow *batch, struct arena *arena, struct type_flow *flow) {
    *flow = (struct type_flow){arena_new(arena, uint8_t, graph->leaf_count),
                               arena_new(arena, uint8_t, graph->leaf_count)};
    struct runner r = {.graph = graph, .flow = flow};
    r.origins = arena_new(arena, uint8_t, graph->leaf_count);
    if (!flow->classes || !flow->cast_copies || !r.origins) return false;
    start(&r, roles);
    run_passes(&r);
    r.judges_products = true;
    run_passes(&r);
    hand_all_back(&r);
    if (!narrow_updates(&r, roles, batch, arena)) return false;
    finish(&r, roles);
    return true;
}
