#include "analysis/advice/gathered.h"

#include "analysis/advice/weight_products.h"

// Without training, of gathered weights: half are there where few rows meet each, as in a step that decodes; products
// of many rows take so long that only a fifth is gathered ahead of them.
#define AT_ONCE_OF_FEW_ROWS 0.5
#define AT_ONCE_OF_MANY_ROWS 0.2

// Experts, say, whose chips have one each: nothing of it is gathered.
static bool stays_in_parts(const struct dimension_flow *split, const struct weight_product *product) {
    return split->marks[product->weight] & product->weight_batch;
}

static bool is_split_beside_batch(const struct advisor *advisor, const struct dimension_flow *split, uint32_t leaf) {
    return split->marks[leaf] & ~dimension_flow_shared(split, &advisor->batch, leaf);
}

// On TPUs without training, logits of a few words stay in columns: chips exchange these, which is less than the table.
// XLA:GPU gathers that.
static bool is_left_in_columns(const struct advisor *advisor, const struct dimension_flow *split,
                               const struct weight_product *product) {
    if (advisor->roles.is_training || !advisor->is_for_tpu) return false;
    if (!is_split_beside_batch(advisor, split, product->result)) return false;
    const struct array_shape *leaves = advisor->graph.leaves;
    return array_shape_elements(&leaves[product->weight]) > array_shape_elements(&leaves[product->result]);
}

// A weight that is larger than what it is multiplied with keeps its split by the columns of the result: XLA:GPU
// exchanges what it is multiplied with, or the result.
static bool keeps_columns(const struct advisor *advisor, const struct dimension_flow *split,
                          const struct weight_product *product) {
    const struct array_shape *leaves = advisor->graph.leaves;
    return !product->is_in_loop && is_split_beside_batch(advisor, split, product->result) &&
           array_shape_elements(&leaves[product->weight]) > array_shape_elements(&leaves[product->activation]);
}

// Without training, where both operands are split along what is summed over, XLA:GPU sums what its chips make of their
// parts.
static bool is_summed_over_chips(const struct advisor *advisor, const struct dimension_flow *split, uint32_t index) {
    struct weight_product product;
    return advisor->is_for_gpu && !advisor->roles.is_training &&
           weight_product_is_summed(advisor, split, index, &product);
}

// Of a weight, the part that counts among those that are there at once.
static double part_at_once(const struct advisor *advisor, const struct weight_product *product) {
    enum { FEW_ROWS = 512 };
    if (advisor->roles.is_training) return 1;
    bool has_many = weight_product_rows(advisor, product) > FEW_ROWS;
    return has_many ? AT_ONCE_OF_MANY_ROWS : AT_ONCE_OF_FEW_ROWS;
}

bool gathered_weights_find(const struct advisor *advisor, const struct dimension_flow *split, int64_t *gathered_bytes) {
    double all = 0, most_alone = 0;
    struct weight_product product;
    int64_t *counted_bytes = arena_new(advisor->arena, int64_t, advisor->graph.leaf_count);  // of each weight
    if (!counted_bytes) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the weights of products");
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (!weight_product_read(advisor, i, &product) || product.weight == HLO_NONE) continue;
        if (stays_in_parts(split, &product) || is_left_in_columns(advisor, split, &product)) continue;
        if (advisor->is_for_gpu && advisor->roles.is_training && keeps_columns(advisor, split, &product)) continue;
        if (is_summed_over_chips(advisor, split, i)) continue;
        int64_t bytes = array_shape_bytes(&advisor->graph.leaves[product.weight]);
        uint32_t source = weight_product_source(advisor, product.weight);
        int64_t *counted = &counted_bytes[source];
        if (bytes <= *counted) continue;
        bool waits = !product.is_in_loop && !advisor->untrained_weights[source];  // a teacher's are gone after each
        if (waits)
            all += part_at_once(advisor, &product) * (double)(bytes - *counted);
        else if ((double)bytes > most_alone)
            most_alone = (double)bytes;
        *counted = bytes;
    }
    *gathered_bytes = what_if_bytes(all + most_alone);
    return true;
}

// Does the program make it of nothing that it is given, by operations before? Numbers that pictures are resized with.
static bool is_made_alone(const struct program_graph *graph, const struct graph_node *node, const bool *is_frozen) {
    bool is_alone = node->computation == graph->entry && node->opcode != OPCODE_PARAMETER;
    for (uint32_t i = 0; i < node->operand_count && is_alone; i++) {
        uint32_t operand = graph_operand(graph, node, i);
        is_alone = operand != HLO_NONE && graph->nodes[operand].leaf_count &&
                   is_frozen[graph->nodes[operand].first_leaf];
    }
    return is_alone;
}

// For each leaf: is it a weight that nobody trains, as an input or made alone? NULL at the arena's limit.
static const bool *find_frozen(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool *is_frozen = arena_new(advisor->arena, bool, graph->leaf_count + 1u);
    for (uint32_t i = 0; is_frozen && i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        if (node->leaf_count) is_frozen[node->first_leaf] = is_made_alone(graph, node, is_frozen);
    }
    for (uint32_t i = 0; is_frozen && i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        if (input->leaf != HLO_NONE) is_frozen[input->leaf] = input->is_frozen;
    }
    return is_frozen;
}

// Of a weight that nobody trains there is no gradient, for which operands would wait. `bits_most`: of an element.
static int64_t gradients_and_operands(const struct advisor *advisor, const struct dimension_flow *split,
                                      int bits_most) {
    double bytes = 0;
    struct weight_product product;
    const bool *is_frozen = find_frozen(advisor);
    for (uint32_t i = 0; i < advisor->graph.node_count && advisor->roles.is_training; i++) {
        if (!weight_product_read(advisor, i, &product) || product.is_in_loop) continue;
        if (advisor->untrained_products[i]) continue;
        if (product.weight != HLO_NONE && stays_in_parts(split, &product)) continue;
        bool is_in_columns = advisor->is_for_gpu && product.weight != HLO_NONE &&
                             keeps_columns(advisor, split, &product);
        if (is_in_columns) continue;  // and so is its gradient
        if (is_frozen && product.weight != HLO_NONE && is_frozen[weight_product_source(advisor, product.weight)])
            continue;
        const struct array_shape *shape = &advisor->graph.leaves[product.activation];
        double part = shape->element_bits > bits_most ? (double)bits_most / shape->element_bits : 1;
        int64_t activation = array_shape_bytes(shape);
        bytes += part * weight_product_bytes(advisor, &product);
        if (activation > 0) bytes += part * (double)activation / (double)advisor->request.ways;
    }
    return what_if_bytes(bytes);
}

int64_t gathered_gradients_bytes(const struct advisor *advisor, const struct dimension_flow *split) {
    enum { AS_THEY_ARE = 1 << 16 };
    return gradients_and_operands(advisor, split, AS_THEY_ARE);
}

struct waiting_bytes gathered_on_tpu(const struct advisor *advisor, const struct dimension_flow *split, bool is_pooled,
                                     int64_t temporary_bytes) {
    enum { BF16_BITS = 16 };
    int64_t all = is_pooled ? gathered_gradients_bytes(advisor, split)
                            : gradients_and_operands(advisor, split, BF16_BITS);
    double beyond = all > temporary_bytes ? (double)(all - temporary_bytes) : 0;
    return is_pooled ? (struct waiting_bytes){0, what_if_bytes(0.5 * beyond), what_if_bytes(1.4 * beyond)}
                     : (struct waiting_bytes){0, what_if_bytes(0.15 * beyond), what_if_bytes(0.9 * beyond)};
}

int64_t unfused_product_bytes(const struct advisor *advisor) {
    double largest = 0;
    struct weight_product product;
    for (uint32_t i = 0; i < advisor->graph.node_count && !advisor->roles.is_training; i++) {
        if (!weight_product_read(advisor, i, &product) || !product.is_fused) continue;
        double bytes = weight_product_bytes(advisor, &product);
        if (bytes > largest) largest = bytes;
    }
    return what_if_bytes(largest);
}

// Does it follow the batch, and has about as many elements? Cut by a word, say, it is still the same array.
static bool is_about(const struct advisor *advisor, uint32_t leaf, int64_t elements) {
    const double nearly = 0.95;
    if (!advisor->batch.marks[leaf]) return false;
    int64_t those = array_shape_elements(&advisor->graph.leaves[leaf]);
    return those <= elements && (double)those >= nearly * (double)elements;
}

static double bytes_at_peak_of(const struct advisor *advisor, int64_t elements) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double bytes = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, replay->live_at_peak[i]);
        if (leaf == HLO_NONE || !is_about(advisor, leaf, elements)) continue;
        bytes += (double)array_shape_bytes(&advisor->graph.leaves[leaf]);
    }
    return bytes;
}

// What only looks at it in another shape, as a sum in two steps does that comes after the partitioner, says nothing.
static bool is_made(const struct advisor *advisor, uint32_t leaf) {
    enum opcode opcode = advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]].opcode;
    return opcode != OPCODE_BITCAST && opcode != OPCODE_RESHAPE;
}

// Is what is made of it ever split by examples? A loss that needs no other array can stay in columns to its gradient.
static bool becomes_rows(const struct advisor *advisor, const struct dimension_flow *split, int64_t elements) {
    for (uint32_t i = 0; i < advisor->graph.leaf_count; i++) {
        if (array_is(&advisor->graph.leaves[i]) && is_about(advisor, i, elements) &&
            dimension_flow_shared(split, &advisor->batch, i) && is_made(advisor, i))
            return true;
    }
    return false;
}

// The largest product whose weight keeps its split, since it has more elements than what it is multiplied with.
static bool find_exchanged(const struct advisor *advisor, const struct dimension_flow *split,
                           struct weight_product *largest) {
    const struct array_shape *leaves = advisor->graph.leaves;
    struct weight_product product;
    int64_t most = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count && advisor->roles.is_training; i++) {
        if (!weight_product_read(advisor, i, &product) || product.weight == HLO_NONE) continue;
        int64_t elements = array_shape_elements(&leaves[product.result]);
        if (elements <= most || !keeps_columns(advisor, split, &product)) continue;
        most = elements;
        *largest = product;
    }
    return most > 0;
}

int64_t exchanged_product_bytes(const struct advisor *advisor, const struct dimension_flow *split) {
    enum { AT_ONCE = 3, F32_BYTES = 4 };  // in columns, on its way, and in rows
    struct weight_product product;
    if (!find_exchanged(advisor, split, &product)) return 0;
    int64_t elements = array_shape_elements(&advisor->graph.leaves[product.result]);
    if (!becomes_rows(advisor, split, elements)) return 0;
    double now = bytes_at_peak_of(advisor, elements);
    double then = AT_ONCE * F32_BYTES * (double)elements + weight_product_bytes(advisor, &product);
    return now > 0 && then > now ? what_if_bytes((then - now) / (double)advisor->request.ways) : 0;
}
