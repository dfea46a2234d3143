// Donating the inputs, and keeping the optimizer's state on the host.
#include "analysis/advice/advisor.h"

// How far off a donation may be, in parts of the predicted total.
#define DONATION_BELOW 0.01
#define DONATION_ABOVE 0.02
#define CACHES_BELOW 0.06    // a cache that is donated needs no copy of its own either
#define SQUEEZED_ABOVE 0.05  // what lay in the outputs is packed anew
#define CONVOLUTIONS_ABOVE 0.12

static int64_t input_bytes(const struct advisor *advisor, const struct entry_input *input) {
    if (input->allocation == HLO_NONE) return 0;
    const struct hlo_allocation *a = &advisor->module->allocations[input->allocation];
    return a->color == 0 && !a->is_thread_local ? a->size_bytes : 0;
}

// What the total may be above the predicted one. Where donating binds the layout of a convolution's weights on a TPU,
// what follows can cost more than it saves, and more than the weights hold: up to an eighth of today's total.
static double donation_above(struct advisor *advisor, int64_t predicted, struct advice_item *item) {
    bool is_short = advisor->is_rematerialized || advisor->what_if.residents.guest_bytes > 0;
    double usually = is_short ? SQUEEZED_ABOVE : DONATION_ABOVE;
    if (advisor->is_for_gpu || !advisor->has_convolutions || predicted <= 0) return usually;
    advisor_say(advisor, item,
                "With convolutions donating can cost memory: the new weights must then lie as the old ones do, and the "
                "compiler may copy them for it. Compile both before choosing.");
    double above = 1.12 * (double)advisor->what_if.total_bytes / (double)predicted - 1;
    if (above < CONVOLUTIONS_ABOVE) return CONVOLUTIONS_ABOVE;
    return above < ADVICE_RANGE_MAX - DONATION_BELOW ? above : ADVICE_RANGE_MAX - DONATION_BELOW;
}

static bool is_copying(enum opcode opcode) {
    return opcode == OPCODE_COPY || opcode == OPCODE_COPY_DONE || opcode == OPCODE_COPY_START ||
           opcode == OPCODE_BITCAST;
}

// A loop that scans an array and stacks its result reads the one while it writes the other: donating makes no place for
// both in one.
static bool is_copied_by_loop(const struct advisor *advisor, const struct entry_input *input) {
    enum { COPIES_MAX = 8 };
    const struct program_graph *graph = &advisor->graph;
    uint32_t last = graph->entry == HLO_NONE ? HLO_NONE : graph->computations[graph->entry].root;
    if (last == HLO_NONE) return false;
    const struct graph_node *root = &graph->nodes[last];
    uint32_t output = root->opcode == OPCODE_TUPLE ? graph_operand(graph, root, input->mirror) : HLO_NONE;
    for (int i = 0; i < COPIES_MAX && output != HLO_NONE && is_copying(graph->nodes[output].opcode); i++)
        output = graph_operand(graph, &graph->nodes[output], 0);
    if (output == HLO_NONE || input->leaf == HLO_NONE) return false;
    const struct graph_node *element = &graph->nodes[output];
    uint32_t loop = element->opcode == OPCODE_GET_TUPLE_ELEMENT ? graph_operand(graph, element, 0) : HLO_NONE;
    if (loop == HLO_NONE || graph->nodes[loop].opcode != OPCODE_WHILE) return false;
    uint32_t start = graph_operand(graph, &graph->nodes[loop], 0);
    if (start == HLO_NONE || graph->nodes[start].opcode != OPCODE_TUPLE) return false;
    for (uint32_t i = 0; i < graph->nodes[start].operand_count; i++) {
        uint32_t from = graph_operand(graph, &graph->nodes[start], i);
        bool is_input = from != HLO_NONE && advisor->phases.source[from] == graph->node_of_leaf[input->leaf];
        if (is_input && (int64_t)i != element->number) return true;
    }
    return false;
}

// What lies in the outputs until they are written, and needs room of its own when they lie in their inputs: as large as
// the replay says, but never larger than what lies there, nor than the outputs that go.
static int64_t sent_bytes(const struct advisor *advisor, int64_t saved) {
    int64_t sent = advisor->what_if.roomy_total_bytes - advisor->what_if.total_bytes;
    int64_t guests = advisor->what_if.residents.guest_bytes;
    if (sent > guests) sent = guests;
    if (sent > saved) sent = saved;
    return sent > 0 ? sent : 0;
}

bool advise_donation(struct advisor *advisor, struct advice_item *item) {
    const struct program_roles *roles = &advisor->roles;
    int64_t saved = 0, donated = 0, copied = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < roles->input_count; i++) {
        const struct entry_input *input = &roles->inputs[i];
        if (input->is_donated) donated += input_bytes(advisor, input);
        if (input->is_donated || input->mirror == HLO_NONE) continue;
        if (is_copied_by_loop(advisor, input)) {
            copied += input_bytes(advisor, input);
            continue;
        }
        saved += input_bytes(advisor, input);
        count++;
    }
    item->how = "jax.jit(step, donate_argnums=...) with the positions of the arguments that the step returns updated; "
                "the caller must not use the old arrays afterwards.";
    if (!saved)
        return advisor_no_use(advisor, item,
                              copied    ? "What could be donated goes through a loop that reads the old array while it "
                                          "writes the new one: both are needed."
                              : donated ? "Every input that an output could take the place of is donated already."
                                        : "No output has the shape and type of an input.");
    item->applies = true;
    advisor_say(advisor, item,
                "%u inputs of %s in all have an output of the same shape and type that lies beside them.", count,
                size_string(saved, advisor->arena));
    int64_t sent = sent_bytes(advisor, saved);
    advisor->reach.indefinite_bytes = saved;
    if (sent > 0)
        advisor_say(advisor, item,
                    "Of these outputs' bytes the compiler uses %s for temporary arrays until the outputs "
                    "are written; those will need room of their own.",
                    size_string(sent, advisor->arena));
    struct what_if_result then = advisor_now(advisor);
    then.total_bytes += sent - saved;
    then.peak_bytes += sent - saved;
    then.temporary_bytes += sent;
    then.indefinite_bytes -= saved;
    double below = advisor->roles.is_training ? DONATION_BELOW : CACHES_BELOW;
    advisor_set_totals(advisor, &then, below, donation_above(advisor, then.total_bytes, item), item);
    return true;
}

bool advise_offload_optimizer(struct advisor *advisor, struct advice_item *item) {
    const struct program_roles *roles = &advisor->roles;
    int64_t saved = 0;
    uint32_t count = 0;
    item->how =
        "Keep the optimizer's state with memory_kind=\"pinned_host\" in its NamedSharding, and jax.device_put it to "
        "device memory in the step, one array at a time; each step then moves it over PCIe.";
    for (uint32_t i = 0; i < roles->input_count; i++) {
        const struct entry_input *input = &roles->inputs[i];
        if (!input->is_state || advisor_is_weight(advisor, i)) continue;
        saved += input_bytes(advisor, input) * (input->is_donated ? 1 : 2);
        count++;
    }
    if (!saved) return advisor_no_use(advisor, item, "No state was found that only the optimizer reads.");
    advisor->reach.indefinite_bytes = saved;
    item->applies = true;
    advisor_say(advisor, item,
                "%u inputs are updated but not read by the forward pass; with their outputs they hold %s.", count,
                size_string(saved, advisor->arena));
    struct what_if_result then = advisor_now(advisor);
    then.total_bytes -= saved;
    then.peak_bytes -= saved;
    then.indefinite_bytes -= saved;
    advisor_set_totals(advisor, &then, 0.02, 0.20, item);
    return true;
}
