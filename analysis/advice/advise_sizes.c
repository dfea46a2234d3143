// Changes that only resize buffers: half the batch, bfloat16 instead of float32.
#include "analysis/advice/advisor.h"

enum { F32 = 11, BF16 = 16, BF16_BITS = 16 };

// Arrays in fast memory get smaller too, and what that frees takes arrays from HBM that now fit it.
static int64_t moved_to_fast_memory(const struct advisor *advisor, const int64_t *sizes, int64_t small_bytes) {
    double before = 0, after = 0;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        if (advisor->module->buffers[i].color != 1) continue;
        before += (double)advisor->module->buffers[i].size_bytes;
        after += (double)sizes[i];
    }
    double freed = before > 0 ? (double)advisor->what_if.fast_bytes * (1 - after / before) : 0;
    return freed < (double)small_bytes ? (int64_t)freed : small_bytes;
}

static bool say_no_such_batch(struct advisor *advisor, struct advice_item *item) {
    const char *why = arena_printf(advisor->arena,
                                   "No input of data has %lld, the batch given, as one of its first dimensions.",
                                   (long long)advisor->roles.batch);
    advisor->doubt = (struct advice_doubt){0};
    return advisor_no_use(advisor, item, why ? why : "");
}

static bool say_graph(struct advisor *advisor, struct advice_item *item) {
    const char *why = arena_printf(advisor->arena,
                                   "The inputs are a graph: %lld edges, summed at the nodes they lead to. Half of the "
                                   "edges would be another graph; halving means something only where the step takes "
                                   "several graphs joined to one, and then it is the number of graphs that is halved.",
                                   (long long)advisor->roles.batch);
    advisor->doubt = (struct advice_doubt){0};
    return advisor_no_use(advisor, item, why ? why : "");
}

static double data_bytes(const struct advisor *advisor, bool is_unknown) {
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *in = &advisor->roles.inputs[i];
        if (in->allocation == HLO_NONE || in->leaf == HLO_NONE) continue;
        bool is_data = advisor->batch.marks[in->leaf];
        bool is_doubted = understanding_is_unknown_input(&advisor->roles, &advisor->batch, i);
        double size = (double)advisor->module->allocations[in->allocation].size_bytes;
        if (is_unknown ? is_doubted : is_doubted || is_data)
            bytes += in->mirror != HLO_NONE && !in->is_donated ? 2 * size : size;
    }
    return bytes;
}

struct advice_doubt advisor_doubt_of_batch(const struct advisor *advisor) {
    const struct peak_bytes *peak = &advisor->at_peak;
    return (struct advice_doubt){
        .population_bytes = peak->batch + peak->other + data_bytes(advisor, false),
        .may_go_bytes = peak->other + data_bytes(advisor, true),
        .part = 0.5,
        .help = "Give the number of examples with --batch=N; the compiler's HloProto with op names tells more than "
                "a text dump."};
}

bool advisor_halve(struct advisor *advisor, const struct dimension_flow *flow, struct what_if_result *result) {
    int64_t *sizes = advisor_sizes(advisor);
    if (!sizes) return false;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        if (leaf == HLO_NONE || !flow->marks[leaf]) continue;
        struct array_shape half = dimension_flow_divided(flow, leaf, 2);
        sizes[i] = advisor_reshaped(advisor, i, &half);
    }
    struct what_if_change change = {.sizes = sizes};
    if (!advisor_run(advisor, &change, result)) return false;
    int64_t moved = moved_to_fast_memory(advisor, sizes, result->small_bytes);
    advisor->reach.temporary_bytes += moved;
    result->total_bytes -= moved;
    result->peak_bytes -= moved;
    return true;
}

bool advise_batch(struct advisor *advisor, struct advice_item *item) {
    struct what_if_result result;
    int64_t batch = advisor->roles.batch;
    item->how = "Give the step half as many examples; gradient accumulation over two of them (micro-batches) keeps the "
                "batch that the optimizer sees.";
    advisor->doubt = advisor_doubt_of_batch(advisor);
    if (batch < 2) {
        advisor_no_use(advisor, item, "No batch dimension was found among the inputs; give it with --batch=N.");
        return true;
    }
    if (!dimension_flow_has_marks(&advisor->batch)) return say_no_such_batch(advisor, item);
    if (advisor->roles.is_graph) return say_graph(advisor, item);
    if (!advisor_halve(advisor, &advisor->batch, &result)) return false;
    item->applies = item->changes_numerics = true;
    advisor_say(advisor, item, "The batch is %lld%s; dimensions computed from it are followed through the program.",
                (long long)batch,
                advisor->roles.is_batch_told ? ", as given"
                : advisor->roles.batch_dimension
                    ? ", a later dimension of an input: a loop goes through those before it"
                    : ", the leading dimension of an input");
    advisor_set_totals(advisor, &result, advisor->roles.is_training ? 0.04 : 0.08, 0.02, item);
    return true;
}

static int64_t narrowed(const struct advisor *advisor, uint32_t buffer, uint32_t leaf) {
    struct array_shape shape = advisor->graph.leaves[leaf];
    shape.element_type = BF16;
    shape.element_bits = BF16_BITS;
    return advisor_reshaped(advisor, buffer, &shape);
}

// Only what is stored: inputs and the outputs that mirror them; the step computes in float32 as before.
static bool predict_stored(struct advisor *advisor, struct what_if_result *result) {
    int64_t *sizes = advisor_sizes(advisor);
    struct what_if_change change = {.sizes = sizes};
    if (!sizes) return false;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        uint32_t a = i < advisor->what_if.module->buffer_count ? advisor->module->allocation_of_buffer[i] : HLO_NONE;
        if (leaf == HLO_NONE || a == HLO_NONE || advisor->graph.leaves[leaf].element_type != F32) continue;
        const struct hlo_allocation *allocation = &advisor->module->allocations[a];
        if (!allocation->is_entry_parameter && !allocation->maybe_live_out) continue;
        if (advisor->types.classes[leaf] == TYPE_NARROW) sizes[i] = narrowed(advisor, i, leaf);
    }
    return advisor_run(advisor, &change, result);
}

bool advise_bf16_parameters(struct advisor *advisor, struct advice_item *item) {
    int64_t *sizes = advisor_sizes(advisor);
    struct what_if_result then, stored;
    uint32_t count = 0;
    item->how =
        "Create the parameters, and the optimizer's state, with dtype=jnp.bfloat16; a float32 master copy of the "
        "weights keeps small updates from being lost, and costs its bytes again.";
    if (!sizes || !predict_stored(advisor, &stored)) return false;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        count += leaf != HLO_NONE && advisor->graph.leaves[leaf].element_type == F32;
    }
    if (!count) return advisor_no_use(advisor, item, "No input is float32.");
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        if (leaf == HLO_NONE) continue;
        bool is_f32 = advisor->graph.leaves[leaf].element_type == F32;
        if (is_f32 && advisor->types.classes[leaf] == TYPE_NARROW) sizes[i] = narrowed(advisor, i, leaf);
        if (advisor->types.is_cast_copy[leaf]) sizes[i] = 0;
    }
    struct what_if_change change = {.sizes = sizes};
    if (!advisor_run(advisor, &change, &then)) return false;
    double apart = (double)(stored.total_bytes - then.total_bytes) / ((double)then.total_bytes + 1);
    bool is_apart = apart > 0.05;
    item->applies = item->changes_numerics = true;
    struct what_if_result now = advisor_now(advisor);
    double reached = (double)advisor->reach.indefinite_bytes + (double)advisor->reach.temporary_bytes;
    advisor->doubt = (struct advice_doubt){
        .population_bytes = reached < (double)now.total_bytes ? reached : (double)now.total_bytes,
        .may_go_bytes = is_apart ? (double)(stored.total_bytes - then.total_bytes) : 0,
        .part = 1,
        .help = "Compile it with bfloat16 parameters: what the step then computes in depends on its source."};
    advisor_say(advisor, item, "%u inputs are float32.", count);
    if (is_apart)
        advisor_say(advisor, item,
                    "Only storage is counted, with a step that casts the parameters back to float32 before it "
                    "computes. Where it computes with them as they are, more arrays become bfloat16: a total of %s.",
                    size_string(then.total_bytes, advisor->arena));
    advisor_set_totals(advisor, &stored, is_apart ? 0.23 : 0.05, 0.015, item);
    return true;
}

// What a careful program computes in float32 on purpose.
static bool is_kept_wide(const struct advisor *advisor, uint32_t leaf) {
    static const char *const names[] = {"softmax", "logsumexp", "/exp", "/log", "/reduce_sum"};
    struct bytes op_name = advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]].op_name;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_contains(op_name, bytes_of(names[i]))) return true;
    }
    return false;
}

static struct advice_doubt doubt_of_temporaries(const struct advisor *advisor) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    struct advice_doubt doubt = {.population_bytes = advisor->at_peak.other_f32,
                                 .may_go_bytes = advisor->at_peak.other_f32,
                                 .part = 0.5,
                                 .help = "The compiler's HloProto with op names tells more than a text dump; give the "
                                         "number of examples with --batch=N."};
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t buffer = replay->live_at_peak[i], leaf = advisor_leaf(advisor, buffer);
        if (leaf == HLO_NONE || advisor->graph.leaves[leaf].element_type != F32 || !advisor->batch.marks[leaf])
            continue;
        double bytes = (double)advisor->module->buffers[buffer].size_bytes;
        doubt.population_bytes += bytes;
        if (is_kept_wide(advisor, leaf)) doubt.may_stay_bytes += bytes;
    }
    return doubt;
}

// Arrays that follow the batch, or are kept between forward and backward: the model's activations.
bool advise_bf16_temporaries(struct advisor *advisor, struct advice_item *item) {
    int64_t *sizes = advisor_sizes(advisor);
    int64_t narrowed_bytes = 0;
    item->how =
        "Cast the inputs of the model to bfloat16 and compute in it, x = x.astype(jnp.bfloat16), with the weights "
        "cast where they are used; keep sums and losses in float32.";
    if (!sizes) return false;
    for (uint32_t i = 0; i < advisor->what_if.replay.span_count; i++) {
        uint32_t buffer = advisor->what_if.replay.spans[i].buffer, leaf = advisor_leaf(advisor, buffer);
        if (leaf == HLO_NONE || advisor->graph.leaves[leaf].element_type != F32 || !advisor->batch.marks[leaf])
            continue;
        sizes[buffer] = narrowed(advisor, buffer, leaf);
        narrowed_bytes += advisor->module->buffers[buffer].size_bytes;
    }
    advisor->doubt = doubt_of_temporaries(advisor);
    if (!narrowed_bytes) return advisor_no_use(advisor, item, "No temporary array that follows the batch is float32.");
    item->applies = item->changes_numerics = true;
    advisor_say(advisor, item, "Over the program, %s of temporary arrays are float32 and follow the batch.",
                size_string(narrowed_bytes, advisor->arena));
    struct what_if_change change = {.sizes = sizes};
    return advisor_predict(advisor, &change, 0.15, 0.15, item);
}
