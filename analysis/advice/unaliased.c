#include "analysis/advice/unaliased.h"

// The bits that the user splits of an input of data.
static uint8_t given_marks(const struct advisor *advisor, const struct sharding_split *split, uint32_t input,
                           bool is_batch_split) {
    return is_batch_split ? split->flow.marks[advisor->roles.inputs[input].leaf] : 0;
}

// A loop has a copy of what it is given a place of, which it needs no more where it has none: as much goes as comes.
static bool is_of_loop(const struct program_graph *graph, uint32_t output) {
    enum { COPIES_MAX = 8 };
    uint32_t node = graph->entry == HLO_NONE ? HLO_NONE : graph->computations[graph->entry].root;
    if (node != HLO_NONE && graph->nodes[node].opcode == OPCODE_TUPLE)
        node = graph_operand(graph, &graph->nodes[node], output);
    for (int i = 0; i < COPIES_MAX && node != HLO_NONE && graph->nodes[node].operand_count == 1; i++) {
        if (graph->nodes[node].opcode == OPCODE_WHILE) return true;
        node = graph_operand(graph, &graph->nodes[node], 0);
    }
    return false;
}

static int64_t beside(const struct advisor *advisor, const struct sharding_split *split, uint32_t input,
                      bool is_batch_split) {
    const struct entry_input *in = &advisor->roles.inputs[input];
    if (!in->is_donated || in->mirror == HLO_NONE || in->leaf == HLO_NONE) return 0;
    if (sharding_is_weight(advisor, input)) return 0;
    uint32_t output = advisor->roles.outputs[in->mirror].leaf;
    uint8_t marks = split->flow.marks[output];
    int64_t parts;
    if (is_of_loop(&advisor->graph, in->mirror)) return 0;
    if (marks == given_marks(advisor, split, input, is_batch_split)) return 0;
    if (sharding_parts_of(&split->flow, output, marks, &parts) < 0 || parts == 1) return 0;
    struct array_shape part = sharding_parts_shape(&split->flow, output, marks);
    int64_t bytes = array_shape_bytes(&part);
    return bytes > 0 ? bytes : 0;
}

int64_t unaliased_bytes(const struct advisor *advisor, const struct sharding_split *split, bool is_batch_split) {
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++)
        bytes += (double)beside(advisor, split, i, is_batch_split);
    return what_if_bytes(bytes);
}
