// Half the batch: a change that only resizes buffers.
#include "analysis/advice/advisor.h"
#include "analysis/advice/few_pictures.h"

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

const char *advisor_why_no_batch(const struct advisor *advisor) {
    const struct program_roles *roles = &advisor->roles;
    if (!roles->is_batch_told) return "No batch dimension was found among the inputs; give it with --batch=N.";
    if (roles->batch < 2) return "The batch given, 1, cannot be divided.";
    const char *why = arena_printf(advisor->arena,
                                   "No input of data has %lld, the batch given, as one of its first dimensions.",
                                   (long long)roles->batch);
    return why ? why : "";
}

static bool say_no_such_batch(struct advisor *advisor, struct advice_item *item) {
    advisor->doubt = (struct advice_doubt){0};
    return advisor_no_use(advisor, item, advisor_why_no_batch(advisor));
}

static bool say_one_example(struct advisor *advisor, struct advice_item *item) {
    advisor->doubt = (struct advice_doubt){0};
    return advisor_no_use(advisor, item, "The step takes one example: there is no half of it but half of its length.");
}

bool advisor_doubt_graphs(struct advisor *advisor) {
    const struct program_roles *roles = &advisor->roles;
    const char *help = arena_printf(advisor->arena,
                                    "The inputs have %lld edges. They may be one graph, which cannot be halved, or up "
                                    "to %lld graphs of equal size that were joined to one. If they are several, "
                                    "compile the step with fewer of them to know.",
                                    (long long)roles->batch, (long long)roles->graphs_most);
    advisor->doubt = advisor_doubt_without_batch(advisor);
    advisor->doubt.help = help ? help : "";
    return true;
}

// Do the turns of a loop take the examples some at a time, from where they lie as they were given? Then half of them
// may make half as many turns, or turns of half as many.
static bool are_taken_in_parts(const struct advisor *advisor) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
        if (!shape || !array_is(shape) || shape->rank < 2 || shape->dimensions[0] != advisor->roles.batch) continue;
        if (advisor->batch.marks[leaf] & advisor->steps.marks[leaf] & 1) return true;
    }
    return false;
}

static void doubt_parts(struct advisor *advisor, const struct what_if_result *result) {
    if (!are_taken_in_parts(advisor)) return;
    const char *half = size_string(result->total_bytes, advisor->arena);
    const char *help = arena_printf(advisor->arena,
                                    "A loop takes the %lld examples some at a time. With half as many in each turn the "
                                    "step needs about %s; with half as many turns, about what it needs now.",
                                    (long long)advisor->roles.batch, half);
    advisor_doubt_all(advisor, help ? help : "");
}

static bool say_graph(struct advisor *advisor, struct advice_item *item) {
    if (advisor->roles.graphs_most > 1) return advisor_doubt_graphs(advisor);
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

static bool has_op_names(const struct program_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].op_name.size) return true;
    }
    return false;
}

const char *advisor_help(const struct advisor *advisor, const char *otherwise) {
    if (!has_op_names(&advisor->graph))
        return "The program comes without op names: the compiler's HloProto, which has them, tells more.";
    if (advisor->roles.batch < 2 && !advisor->roles.is_batch_told) return "Give the number of examples with --batch=N.";
    return otherwise;
}

struct advice_doubt advisor_doubt_of_batch(const struct advisor *advisor) {
    const struct peak_bytes *peak = &advisor->at_peak;
    return (struct advice_doubt){
        .population_bytes = peak->batch + peak->other + data_bytes(advisor, false),
        .may_go_bytes = peak->other + data_bytes(advisor, true),
        .part = 0.5,
        .help = advisor_help(advisor, "The batch does not reach it, and it is like no weight: compile the step with "
                                      "fewer examples to know.")};
}

struct advice_doubt advisor_doubt_without_batch(const struct advisor *advisor) {
    double all = (double)advisor->what_if.total_bytes;
    return (struct advice_doubt){
        .population_bytes = all, .may_stay_bytes = all, .part = 1, .help = advisor_why_no_batch(advisor)};
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

static void say_batch(struct advisor *advisor, struct advice_item *item) {
    const struct program_roles *roles = &advisor->roles;
    if (roles->is_graph)
        advisor_say(advisor, item, "%lld graphs are joined to one; half of them have half of its %lld edges.",
                    (long long)roles->graphs, (long long)roles->batch);
    else
        advisor_say(advisor, item, "The batch is %lld%s; dimensions computed from it are followed through the program.",
                    (long long)roles->batch,
                    roles->is_batch_told     ? ", as given"
                    : roles->batch_dimension ? ", a later dimension of an input: those before it are steps, or time"
                                             : ", the leading dimension of an input");
}

// Dimensions that only the batch makes are rounded up in the halved program, joined ones are not.
static void say_odd(const struct advisor *advisor, struct advice_item *item) {
    long long examples = program_roles_examples(&advisor->roles);
    if (examples % 2 == 0) return;
    advisor_say(advisor, item, "Half of %lld is between %lld and %lld %s, and so is the figure.", examples,
                examples / 2, examples / 2 + 1, advisor->roles.graphs ? "graphs" : "examples");
}

// Beside the edges' arrays those of nodes are small: half of them fit fast memory, but the compiler may go on sending
// them to HBM until the backward pass, as it does with the whole ones.
static void widen_by_nodes(const struct advisor *advisor, struct advice_item *item) {
    const double sent = 0.09;
    if (advisor->roles.is_graph && advisor->is_for_tpu) advice_widen(item, 0, sent);
}

bool advise_batch(struct advisor *advisor, struct advice_item *item) {
    struct what_if_result result;
    int64_t batch = advisor->roles.batch;
    item->how =
        advisor->roles.is_training
            ? "Give the step half as many examples; gradient accumulation over two of them (micro-batches) keeps "
              "the batch that the optimizer sees."
            : "Give the step half as many examples, and call it once for each half.";
    advisor->doubt = advisor_doubt_of_batch(advisor);
    if (batch < 2 && !advisor->what_if.total_bytes) return advisor_no_use(advisor, item, "The program holds nothing.");
    if (batch < 2 && advisor->roles.is_batch_told) return say_no_such_batch(advisor, item);
    if (batch < 2) {
        advisor->doubt = advisor_doubt_without_batch(advisor);
        return true;
    }
    if (!dimension_flow_has_marks(&advisor->batch)) return say_no_such_batch(advisor, item);
    if (advisor->roles.is_one_example) return say_one_example(advisor, item);
    if (advisor->roles.is_graph && !advisor->roles.graphs) return say_graph(advisor, item);
    if (!advisor_halve(advisor, &advisor->batch, &result)) return false;
    few_pictures_doubt(advisor, batch / 2);
    doubt_parts(advisor, &result);
    item->applies = item->changes_numerics = true;
    say_batch(advisor, item);
    say_odd(advisor, item);
    advisor_set_totals(advisor, &result, advisor_is_wide_untrained(advisor) ? 0.06 : 0.03, 0.02, item);
    advice_widen_narrowly(item, advisor->roles.is_training ? 0.049 : 0.07, 0.049);
    widen_by_nodes(advisor, item);
    if (!few_pictures_in_lanes(advisor, batch / 2)) return true;
    advice_widen(item, 0, 0.40);
    advisor_say(
        advisor, item,
        "Half of the pictures do not fill the lanes of a tile: where the compiler keeps them there, they take as "
        "much as all do.");
    return true;
}
