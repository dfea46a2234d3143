#include "analysis/advice/edges_and_nodes.h"

#include "analysis/advice/row_counts.h"
#include "analysis/base/common_divisor.h"
#include "analysis/program/library_call.h"
#include "analysis/program/op_name.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

// --- What is read along the edges and added up at their ends ---

struct row_uses {                    // of arrays that rows that follow the edges
    struct row_counts summed;        // are added to by the forward pass
    struct row_counts whole_summed;  // as whole rows of numbers, where they are added to places in a row in `summed`
    struct row_counts read;          // are read from by the forward pass, whole
    struct row_counts read_back;     // and by the backward pass
};

// The dimension of rows that gather or scatter has a number for: XLA:GPU turns sums around, [3,64,nodes]. 0 where there
// are several, as of the slots of experts, [experts, slots, width].
static int addressed_dimension(const struct graph_node *node) {
    bool is_sum = node->opcode == OPCODE_SCATTER;
    int numbers[ARRAY_RANK_MAX];
    struct bytes by = wire_find_message(node->message, is_sum ? HLO_INSTRUCTION_SCATTER : HLO_INSTRUCTION_GATHER);
    int count = dimension_numbers_read(by, is_sum ? SCATTER_DIMS_TO_OPERAND_DIMS : GATHER_START_INDEX_MAP, numbers);
    return count == 1 ? numbers[0] : 0;
}

// 0: more than any row has, or no such dimension.
static int64_t elements_of_row(const struct array_shape *shape, int rows) {
    int64_t elements = rows < shape->rank;
    for (int d = 0; d < shape->rank; d++) {
        if (d != rows && __builtin_mul_overflow(elements, shape->dimensions[d], &elements)) return 0;
    }
    return elements;
}

static bool are_whole_rows(const struct array_shape *rows, int dimension, const struct array_shape *of_edges) {
    int64_t elements = elements_of_row(rows, dimension);
    return rows->rank >= 2 && elements > 1 && elements == elements_of_row(of_edges, 0);
}

static void note_use(const struct finder *f, const struct graph_node *node, struct row_uses *uses) {
    bool is_sum = node->opcode == OPCODE_SCATTER, is_back = op_name_phase(node->op_name) == PHASE_BACKWARD;
    uint32_t rows = flow_operand_leaf(f->flow, node, 0);
    uint32_t of_edges = is_sum ? flow_operand_leaf(f->flow, node, 2) : node->first_leaf;
    if (rows == HLO_NONE || of_edges == HLO_NONE || !flow_is_marked(f->flow, of_edges, 0)) return;
    const struct array_shape *shape = flow_leaf(f->flow, rows);
    int d = addressed_dimension(node);
    int64_t count = d < shape->rank ? shape->dimensions[d] : 0;
    if (is_sum && !is_back) row_counts_add(&uses->summed, count);
    if (flow_is_marked(f->flow, rows, d) || !are_whole_rows(shape, d, flow_leaf(f->flow, of_edges))) return;
    if (is_sum && !is_back) row_counts_add(&uses->whole_summed, count);
    if (!is_sum) row_counts_add(is_back ? &uses->read_back : &uses->read, count);
}

static void list_uses(const struct finder *f, struct row_uses *uses) {
    for (uint32_t i = 0; i < f->graph->node_count; i++) {
        const struct graph_node *node = &f->graph->nodes[i];
        if (node->opcode == OPCODE_SCATTER || (node->opcode == OPCODE_GATHER && node->leaf_count == 1))
            note_use(f, node, uses);
    }
}

// --- Edges beside nodes ---

static int64_t row_count(const struct finder *f, uint32_t input) {
    if (f->roles->inputs[input].leaf == HLO_NONE) return 0;
    const struct array_shape *shape = input_shape(f, input);
    return array_is(shape) && shape->rank > 0 ? shape->dimensions[0] : 0;
}

// Of a use of rows that follow what was taken for the batch, by others that do not: how many those are, else 0.
static int64_t other_rows(const struct finder *f, const struct graph_node *node) {
    bool is_sum = node->opcode == OPCODE_SCATTER;
    if (!is_sum && (node->opcode != OPCODE_GATHER || node->leaf_count != 1)) return 0;
    uint32_t rows = flow_operand_leaf(f->flow, node, 0);
    uint32_t others = is_sum ? flow_operand_leaf(f->flow, node, 2) : node->first_leaf;
    int d = addressed_dimension(node);
    bool is_forward = op_name_phase(node->op_name) != PHASE_BACKWARD;
    bool is_one = is_forward && rows != HLO_NONE && others != HLO_NONE && flow_is_marked(f->flow, rows, d) &&
                  flow_has_dimension(f->flow, others, 0) && !f->flow->marks[others] &&
                  are_whole_rows(flow_leaf(f->flow, rows), d, flow_leaf(f->flow, others));
    return is_one ? flow_leaf(f->flow, others)->dimensions[0] : 0;
}

uint32_t edges_and_nodes_ends(const struct finder *f) {
    struct row_counts summed = {0}, read = {0};
    for (uint32_t i = 0; i < f->graph->node_count; i++) {
        int64_t rows = other_rows(f, &f->graph->nodes[i]);
        if (rows) row_counts_add(f->graph->nodes[i].opcode == OPCODE_SCATTER ? &summed : &read, rows);
    }
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        int64_t rows = is_other(f, i) && is_integer(f, i) ? row_count(f, i) : 0;
        if (rows > 1 && row_counts_have(&summed, rows) && row_counts_have(&read, rows)) return i;
    }
    return HLO_NONE;
}

// --- Nodes ---

enum told_by { TOLD_BY_NONE, TOLD_BY_KINDS, TOLD_BY_ROWS };  // of an input: integers; rows of numbers, learnt or given

static bool is_table(const struct finder *f, uint32_t input) {
    return f->roles->inputs[input].is_state && input_shape(f, input)->rank >= 2 && is_floating(f, input);
}

static enum told_by nodes_told_by(const struct finder *f, const struct row_uses *uses, uint32_t input) {
    int64_t rows = row_count(f, input);
    if (rows < 2 || !row_counts_have(&uses->summed, rows)) return TOLD_BY_NONE;
    if (has_rows_of_numbers(f, input)) return TOLD_BY_ROWS;
    if (!row_counts_have(&uses->whole_summed, rows) || !row_counts_have(&uses->read, rows)) return TOLD_BY_NONE;
    if (is_table(f, input) && row_counts_have(&uses->read_back, rows)) return TOLD_BY_ROWS;
    return is_other(f, input) && is_integer(f, input) ? TOLD_BY_KINDS : TOLD_BY_NONE;
}

static int64_t most_nodes(const struct finder *f, const struct row_uses *uses) {
    int64_t most = 0;
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        if (nodes_told_by(f, uses, i) && row_count(f, i) > most) most = row_count(f, i);
    }
    return most;
}

// Edges and nodes of equal graphs divide by their number; learnt nodes are those of one graph.
static void bound_graphs(struct finder *f, uint32_t nodes) {
    int64_t *most = &f->roles->graphs_most;
    *most = f->roles->inputs[nodes].is_state ? 1 : common_divisor(*most, row_count(f, nodes));
}

// How many there are, of each sort. They follow the edges, but for weights. Whole graphs are read along the edges and
// added up to as well, where they have features of their own, and integers count their nodes; but they are fewer.
static struct row_counts mark_nodes(struct finder *f) {
    struct row_uses uses = {0};
    struct row_counts nodes = {0};
    list_uses(f, &uses);
    int64_t most = most_nodes(f, &uses);
    f->roles->graphs_most = f->roles->batch;
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        enum told_by told_by = nodes_told_by(f, &uses, i);
        if (told_by == TOLD_BY_NONE || (told_by == TOLD_BY_KINDS && row_count(f, i) < most)) continue;
        row_counts_add(&nodes, row_count(f, i));
        dimension_flow_mark(f->flow, f->roles->inputs[i].leaf, 0);
        bound_graphs(f, i);
    }
    return nodes;
}

// --- Graphs that were joined ---

// Rows of an input that is none of the graph's edges and nodes, but may tell of whole graphs; 0: it does not.
static int64_t rows_of_graphs(const struct finder *f, const struct row_counts *nodes, uint32_t input) {
    int64_t rows = is_other(f, input) ? row_count(f, input) : 0;
    if (rows >= row_counts_most(nodes)) return 0;  // as a label for each node
    return rows > 1 && f->roles->batch > rows && f->roles->batch % rows == 0 ? rows : 0;
}

// As many as the first two such inputs that have one number of rows: counts of nodes and of edges, features, labels.
static int64_t count_by_two_inputs(const struct finder *f, const struct row_counts *nodes) {
    struct row_counts seen = {0};
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        int64_t rows = rows_of_graphs(f, nodes, i);
        if (rows && row_counts_have(&seen, rows)) return rows;
        if (rows) row_counts_add(&seen, rows);
    }
    return 0;
}

// Are nodes equal parts of the rows that `trial` follows, those of one row after those of the other?
static bool are_nodes_parts(const struct finder *f, const struct row_counts *nodes,
                            const struct dimension_flow *trial) {
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        uint32_t leaf = f->roles->inputs[i].leaf;
        if (leaf == HLO_NONE || !flow_is_marked(trial, leaf, 0) || dimension_flow_start(trial, leaf, 0) != 1) continue;
        if (row_counts_have(nodes, row_count(f, i))) return true;
    }
    return false;
}

// As many as the rows of the first such input whose rows the nodes are parts of. Followed beside the edges' marks.
static bool count_by_parts(struct finder *f, const struct row_counts *nodes, struct arena *arena) {
    enum { TRIED_MAX = 8 };
    struct row_counts tried = {0};
    struct dimension_flow trial;
    if (!dimension_flow_init(&trial, f->graph, arena)) return false;
    trial.is_blocked = f->flow->is_blocked;
    trial.ties_joined = f->flow->ties_joined;
    for (uint32_t i = 0; i < f->roles->input_count && tried.count < TRIED_MAX && !f->roles->graphs; i++) {
        int64_t rows = rows_of_graphs(f, nodes, i);
        if (!rows || row_counts_have(&tried, rows)) continue;
        row_counts_add(&tried, rows);
        dimension_flow_clear(&trial);
        dimension_flow_mark(&trial, f->roles->inputs[i].leaf, 0);
        dimension_flow_run(&trial);
        if (are_nodes_parts(f, nodes, &trial)) f->roles->graphs = rows;
    }
    return true;
}

// As many as the rows of the first such input that nodes or edges are added up to, once both are followed. Nodes of
// another sort are read along the edges as well.
static int64_t count_by_sums(const struct finder *f, const struct row_counts *nodes) {
    struct row_uses uses = {0};
    list_uses(f, &uses);
    for (uint32_t i = 0; i < f->roles->input_count; i++) {
        int64_t rows = rows_of_graphs(f, nodes, i);
        if (rows && row_counts_have(&uses.summed, rows) && !row_counts_have(&uses.read, rows)) return rows;
    }
    return 0;
}

static void follow_graphs(struct finder *f, const struct row_counts *nodes) {
    for (uint32_t i = 0; f->roles->graphs && i < f->roles->input_count; i++) {
        if (rows_of_graphs(f, nodes, i) == f->roles->graphs) dimension_flow_mark(f->flow, f->roles->inputs[i].leaf, 0);
    }
    dimension_flow_run(f->flow);
}

bool edges_and_nodes_find(struct finder *f, struct arena *arena) {
    struct row_counts nodes = mark_nodes(f);
    f->roles->is_graph = nodes.count > 0;
    f->roles->graphs = f->roles->is_graph ? count_by_two_inputs(f, &nodes) : 0;
    if (!f->roles->is_graph) return true;
    if (!f->roles->graphs && !count_by_parts(f, &nodes, arena)) return false;
    follow_graphs(f, &nodes);
    if (f->roles->graphs) return true;
    f->roles->graphs = count_by_sums(f, &nodes);
    if (f->roles->graphs) follow_graphs(f, &nodes);
    return true;
}
