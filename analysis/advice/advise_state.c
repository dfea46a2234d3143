// Donating the inputs, and keeping the optimizer's state on the host.
#include "analysis/advice/advisor.h"
#include "analysis/program/op_name.h"

// How far off a donation may be, in parts of the predicted total.
#define DONATION_BELOW 0.04
#define DONATION_ABOVE 0.12

static int64_t input_bytes(const struct advisor *advisor, const struct entry_input *input) {
    if (input->allocation == HLO_NONE) return 0;
    const struct hlo_allocation *a = &advisor->module->allocations[input->allocation];
    return a->color == 0 && !a->is_thread_local ? a->size_bytes : 0;
}

// Not of XLA:TPU's own: it writes dots as convolutions, but keeps the user's names.
static bool has_convolutions(const struct program_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct bytes primitive = op_name_primitive(graph->nodes[i].op_name);
        if (bytes_contains(primitive, BYTES("conv_general_dilated")) || bytes_contains(primitive, BYTES("Conv2D")))
            return true;
    }
    return false;
}

// What the total may be above the predicted one. Where donating binds the layout of a convolution's weights, the copies
// can cost more than it saves: up to an eighth of today's total.
static double donation_above(struct advisor *advisor, int64_t predicted, struct advice_item *item) {
    if (!has_convolutions(&advisor->graph) || predicted <= 0) return DONATION_ABOVE;
    advisor_say(advisor, item,
                "With convolutions donating can cost memory: the new weights must then lie as the old ones do, and the "
                "compiler may copy them for it. Compile both before choosing.");
    double above = 1.12 * (double)advisor->what_if.total_bytes / (double)predicted - 1;
    if (above < DONATION_ABOVE) return DONATION_ABOVE;
    return above < ADVICE_RANGE_MAX - DONATION_BELOW ? above : ADVICE_RANGE_MAX - DONATION_BELOW;
}

bool advise_donation(struct advisor *advisor, struct advice_item *item) {
    const struct program_roles *roles = &advisor->roles;
    int64_t saved = 0, donated = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < roles->input_count; i++) {
        const struct entry_input *input = &roles->inputs[i];
        if (input->is_donated) donated += input_bytes(advisor, input);
        if (input->is_donated || input->mirror == HLO_NONE) continue;
        saved += input_bytes(advisor, input);
        count++;
    }
    item->how = "jax.jit(step, donate_argnums=...) with the positions of the arguments that the step returns updated; "
                "the caller must not use the old arrays afterwards.";
    if (!saved)
        return advisor_no_use(advisor, item,
                              donated ? "Every input that an output could take the place of is donated already."
                                      : "No output has the shape and type of an input.");
    item->applies = true;
    advisor_say(advisor, item,
                "%u inputs of %s in all have an output of the same shape and type that lies beside them.", count,
                size_string(saved, advisor->arena));
    int64_t sent = advisor->what_if.roomy_total_bytes - advisor->what_if.total_bytes;
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
    advisor_set_totals(advisor, &then, DONATION_BELOW, donation_above(advisor, then.total_bytes, item), item);
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
