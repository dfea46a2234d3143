// jax.debug.print and other callbacks: what they hand to the host must be there, whole and unfused.
#include "analysis/advice/advisor.h"

static bool is_callback(const struct graph_node *node) {
    if (node->opcode == OPCODE_OUTFEED) return true;
    return node->opcode == OPCODE_CUSTOM_CALL && (bytes_contains(node->op_name, BYTES("debug_callback")) ||
                                                  bytes_contains(node->op_name, BYTES("debug_print")) ||
                                                  bytes_contains(node->op_name, BYTES("io_callback")) ||
                                                  bytes_contains(node->op_name, BYTES("pure_callback")));
}

// An array that the host gets must be whole; without that it is fused into what reads it, and what
// is computed from it needs no copy of its own: the array's bytes are saved even where the peak is elsewhere.
static void mark_handed(const struct advisor *advisor, const struct graph_node *node, uint8_t *is_handed) {
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(&advisor->graph, node, i);
        if (operand != HLO_NONE) is_handed[operand] = is_handed[advisor->phases.source[operand]] = 1;
    }
}

static bool predict_without(struct advisor *advisor, const uint8_t *is_handed, struct advice_item *item) {
    int64_t *sizes = advisor_sizes(advisor);
    int64_t largest = 0;
    uint32_t shown = HLO_NONE;
    if (!sizes) return false;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        uint32_t node = leaf == HLO_NONE ? HLO_NONE : advisor->graph.node_of_leaf[leaf];
        if (node == HLO_NONE || !is_handed[node] || advisor->graph.nodes[node].opcode == OPCODE_PARAMETER) continue;
        sizes[i] = 0;
        if (advisor->module->buffers[i].size_bytes <= largest) continue;
        largest = advisor->module->buffers[i].size_bytes;
        shown = i;
    }
    if (shown != HLO_NONE)
        advisor_say(advisor, item, "A callback gets %s, %s.", advisor_buffer_text(advisor, shown),
                    size_string(largest, advisor->arena));
    struct what_if_change change = {.sizes = sizes};
    struct what_if_result then;
    if (!advisor_run(advisor, &change, &then)) return false;
    int64_t saved = advisor->what_if.total_bytes - then.total_bytes;
    int64_t more = largest > saved && then.temporary_bytes > largest ? largest - (saved > 0 ? saved : 0) : 0;
    advisor->reach.temporary_bytes += more;
    then.total_bytes -= more;
    then.peak_bytes -= more;
    double above = (double)advisor->what_if.total_bytes / ((double)then.total_bytes + 1) - 1;
    advisor_say(
        advisor, item,
        "What else reads it may need it whole: where the loss does, less is saved, or nothing; the range reaches "
        "that.");
    advisor_set_totals(advisor, &then, 0.06, above > 0.18 ? above : 0.18, item);
    return true;
}

bool advise_debug_print(struct advisor *advisor, struct advice_item *item) {
    uint8_t *is_handed = arena_new(advisor->arena, uint8_t, advisor->graph.node_count);
    uint32_t count = 0;
    item->how =
        "Remove jax.debug.print (and other callbacks) from the step, or print a reduction of the array: its norm.";
    if (!is_handed) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left to look for callbacks");
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (!is_callback(&advisor->graph.nodes[i])) continue;
        mark_handed(advisor, &advisor->graph.nodes[i], is_handed);
        is_handed[i] = 1;
        count++;
    }
    if (!count) return advisor_no_use(advisor, item, "The program hands nothing to the host while it runs.");
    item->applies = true;
    advisor_say(advisor, item,
                count == 1 ? "%u operation hands arrays to the host." : "%u operations hand arrays to the host.",
                count);
    return predict_without(advisor, is_handed, item);
}
