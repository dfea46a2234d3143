// The batch in parts, one after the other, whose gradients are summed before one update.
//
//     bytes     ____                     activations: those of one part, a `parts`-th
//              /    \__                  gradients:   all of them from the first part on, and the part's own until it
//     today   /        \                              is added
//            /----------\  gradients     state:       as it is; one update a step as before
//     then   |\_|\_|\_|\_|  summed
//
// The change itself is told in the usual number of parts; plans may take two or four times as many, as changes of their
// own (advice.h). On a GPU the sums lie in the outputs, which are empty until the update, as far as these have room.
//
// A program that sums gradients over a loop already has the sums. Gradients that a scan stacks over layers are whole
// before they are added, others are added one by one.
#include "analysis/advice/advisor.h"

#include "analysis/advice/advice_bounds.h"
#include "analysis/advice/early_zeros.h"
#include "analysis/advice/few_pictures.h"
#include "analysis/advice/live_bytes.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/advice/only_looked_up.h"
#include "analysis/advice/weight_products.h"
#include "analysis/program/callers.h"
#include "analysis/program/op_name.h"

#include <math.h>

enum { PARTS_USUAL = 4, PARTS_MAX = 16, CAST_SHAPES_MAX = 256 };

static bool is_stacked_by_loop(const struct advisor *advisor, uint32_t leaf) {
    const struct graph_node *node = &advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]];
    if (node->computation != advisor->graph.entry || loop_steps_is_stack(&advisor->steps, leaf)) return true;
    return node->opcode == OPCODE_WHILE || node->opcode == OPCODE_GET_TUPLE_ELEMENT;
}

// A gradient of the backward pass that is added where it is made.
static bool is_added_at_once(const struct advisor *advisor, uint32_t leaf) {
    if (advisor->batch.marks[leaf] || is_stacked_by_loop(advisor, leaf)) return false;
    return advisor->phases.of_node[advisor->graph.node_of_leaf[leaf]] == PHASE_BACKWARD &&
           understanding_is_like_state(&advisor->graph, &advisor->roles, &advisor->batch, leaf);
}

// --- Copies of weights in bfloat16: on a TPU made once, before the loop over the parts, and alive all through it ---

// Those of what is fetched are left out: as far as seen, the compiler makes them where it needs them.
static int list_cast_shapes(const struct advisor *advisor, const struct array_shape *shapes[CAST_SHAPES_MAX]) {
    int count = 0;
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count && count < CAST_SHAPES_MAX; leaf++) {
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        bool is_known = advisor->types.cast_copies[leaf] != CAST_COPY_OF_INPUT || !array_is(shape) || shape->rank < 2;
        for (int i = 0; i < count && !is_known; i++) is_known = array_same_dimensions(shapes[i], shape);
        if (!is_known) shapes[count++] = shape;
    }
    return count;
}

static double sum_of_casts(const struct advisor *advisor) {
    const struct array_shape *shapes[CAST_SHAPES_MAX];
    int count = list_cast_shapes(advisor, shapes);
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (!advisor_is_weight(advisor, i)) continue;
        const struct array_shape *weight = &advisor->graph.leaves[advisor->roles.inputs[i].leaf];
        for (int k = 0; k < count; k++) {
            if (!array_same_dimensions(weight, shapes[k])) continue;
            bytes += (double)array_shape_bytes(shapes[k]);
            break;
        }
    }
    return bytes;
}

// Those that wait for the backward pass today are counted. XLA:GPU moves none out of the loop: each part makes its own.
static int64_t casts_added(const struct advisor *advisor) {
    if (advisor->is_for_gpu) return 0;
    double bytes = sum_of_casts(advisor);
    for (uint32_t i = 0; i < advisor->what_if.replay.span_count; i++) {
        const struct heap_span *span = &advisor->what_if.replay.spans[i];
        uint32_t leaf = advisor_leaf(advisor, span->buffer), turn = advisor->phases.turn_step;
        if (leaf == HLO_NONE || advisor->types.cast_copies[leaf] != CAST_COPY_OF_INPUT) continue;
        if (span->start_step < turn && span->end_step > turn)
            bytes -= (double)advisor->module->buffers[span->buffer].size_bytes;
    }
    return bytes > 0 ? what_if_bytes(bytes) : 0;
}

// --- Sums of gradients ---

// For each leaf: is it an input whose rows the step sets by itself, in its place? NULL at the arena's limit.
static const bool *find_set_by_rows(const struct advisor *advisor) {
    bool *is_set = arena_new(advisor->arena, bool, advisor->graph.leaf_count + 1u);
    for (uint32_t i = 0; is_set && i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (node->opcode != OPCODE_SCATTER || op_name_phase(node->op_name) == PHASE_BACKWARD) continue;
        uint32_t table = flow_operand_leaf(&advisor->batch, node, 0);
        if (table != HLO_NONE) is_set[weight_product_source(advisor, table)] = true;
    }
    return is_set;
}

// As large as the weights; but a table that rows are added to, as by Adagrad over the rows that were drawn, has no
// gradient of its own size.
static int64_t sums_bytes(const struct advisor *advisor) {
    double bytes = (double)advisor_trained_bytes(advisor);
    const bool *is_set_by_rows = find_set_by_rows(advisor);
    for (uint32_t i = 0; is_set_by_rows && i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        bool is_weight = advisor_is_weight(advisor, i) && !advisor->roles.inputs[i].is_frozen;
        if (is_weight && is_set_by_rows[leaf]) bytes -= (double)array_shape_bytes(&advisor->graph.leaves[leaf]);
    }
    return bytes > 0 ? what_if_bytes(bytes) : 0;
}

static int64_t zeros_bytes(const struct advisor *advisor, const struct shape_set *tables) {
    return advisor->is_for_gpu ? early_zeros_read_bytes(advisor, tables) : 0;
}

// --- The change ---

struct parts {
    int64_t count;
    bool has_sums;            // of gradients already
    struct shape_set tables;  // that are only looked up
};

// A temporary of one part. Is it a gradient that is added where it is made, and so has no size? XLA:GPU adds rows to
// the sum of a table's gradients where it lies; the zeros that it begins as have no name that tells a phase.
static bool cut_one(const struct advisor *advisor, const struct parts *parts, uint32_t buffer, int64_t *sizes) {
    uint32_t leaf = advisor_leaf(advisor, buffer);
    if (leaf == HLO_NONE) return false;
    if (advisor->batch.marks[leaf]) {
        struct array_shape part = dimension_flow_divided(&advisor->batch, leaf, parts->count);
        sizes[buffer] = advisor_reshaped(advisor, buffer, &part);
        return false;
    }
    bool is_of_rows = advisor->is_for_gpu && shape_set_has(&parts->tables, &advisor->graph.leaves[leaf]);
    if (parts->has_sums || (!is_of_rows && !is_added_at_once(advisor, leaf))) return false;
    sizes[buffer] = 0;
    return !is_of_rows;
}

// What a gradient that is added where it is made needs beyond the peak, beside what is alive then; at least `beyond`.
static double beyond_with(const struct advisor *advisor, uint32_t buffer, const double *live_at, double peak,
                          double beyond) {
    uint32_t node = advisor->graph.node_of_leaf[advisor_leaf(advisor, buffer)];
    double beside = live_at[callers_scheduled(&advisor->graph, advisor->caller, node)];
    return fmax(beyond, beside + (double)advisor->module->buffers[buffer].size_bytes - peak);
}

// All of them, those in outputs too. What they need beyond the peak for gradients that are added where they are made;
// -1 at the arena's limit.
static int64_t cut(const struct advisor *advisor, const struct parts *parts, int64_t *sizes) {
    uint32_t count = advisor_temporary_count(advisor);
    bool *is_added = arena_new(advisor->arena, bool, count + 1u);
    for (uint32_t i = 0; is_added && i < count; i++)
        is_added[i] = cut_one(advisor, parts, advisor_temporary(advisor, i), sizes);
    const double *live = is_added ? live_bytes_after_events(advisor, sizes) : NULL;
    const double *live_at = live ? live_bytes_at_nodes(advisor, live) : NULL;
    double peak = live_at ? live_bytes_most(advisor, live) : 0, beyond = 0;
    for (uint32_t i = 0; live_at && i < count; i++) {
        if (is_added[i]) beyond = beyond_with(advisor, advisor_temporary(advisor, i), live_at, peak, beyond);
    }
    return live_at ? what_if_bytes(beyond) : -1;
}

// Of one example each on a GPU: a dimension of 1 is laid out and fused another way.
static void widen(const struct advisor *advisor, int64_t count, bool has_tables, struct advice_item *item) {
    advice_widen_narrowly(item, 0.045, 0.053);
    bool may_lie_otherwise = advisor->has_convolutions && !advisor->is_for_gpu;
    if (has_tables || may_lie_otherwise) advice_widen(item, has_tables ? 0.22 : 0.12, has_tables ? 0.08 : 0.18);
    if (few_pictures_in_lanes(advisor, advisor->roles.batch / count)) advice_widen(item, 0, 0.40);
    if (advisor->is_for_gpu && program_roles_examples(&advisor->roles) <= count) advice_widen(item, 0.11, 0.16);
}

static bool predict(struct advisor *advisor, int64_t count, bool has_sums, struct advice_item *item) {
    const struct parts parts = {count, has_sums, only_looked_up_find(advisor)};
    int64_t *sizes = advisor_sizes(advisor);
    struct what_if_change change = {.sizes = sizes};
    struct what_if_result then;
    if (!sizes) return false;
    int64_t beyond = cut(advisor, &parts, sizes);
    if (beyond < 0) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the heap of parts");
    if (!advisor_run(advisor, &change, &then)) return false;
    int64_t added = sums_bytes(advisor) + beyond + casts_added(advisor) + zeros_bytes(advisor, &parts.tables);
    if (has_sums) added = 0;
    advisor->reach.added_bytes = added;
    then.lodged_bytes = added < then.room_bytes ? added : then.room_bytes;
    added -= then.lodged_bytes;
    what_if_add_temporary(&then, added);
    item->parts = count;
    bool has_tables = parts.tables.count > 0;  // rows are added to sums where these lie
    advisor_set_totals(advisor, &then, 0.03, 0.03, item);
    widen(advisor, count, has_tables, item);
    return true;
}

// --- Into how many parts ---

// The largest up to the usual number that divides the batch, else the least that does; 0: it has no parts.
static int64_t usual_parts(int64_t batch) {
    int64_t chosen = 0;
    for (int64_t parts = 2; parts <= PARTS_MAX && parts <= batch; parts++) {
        if (batch % parts == 0 && (parts <= PARTS_USUAL || !chosen)) chosen = parts;
    }
    return chosen;
}

// The least divisor of the batch from `least` on; 0: none up to the most parts.
static int64_t parts_from(int64_t batch, int64_t least) {
    for (int64_t parts = least; parts <= PARTS_MAX && parts <= batch; parts++) {
        if (batch % parts == 0) return parts;
    }
    return 0;
}

static int64_t parts_of(int64_t batch, enum advice_id id) {
    int64_t usual = usual_parts(batch);
    if (!usual || id == ADVICE_MICRO_BATCH) return usual;
    int64_t twice = parts_from(batch, 2 * usual);
    return !twice || id == ADVICE_MICRO_BATCH_TWICE ? twice : parts_from(batch, 2 * twice);
}

// What other numbers of parts leave.
static bool say_others(struct advisor *advisor, bool has_sums, struct advice_item *item) {
    const char *others = "";
    int64_t examples = program_roles_examples(&advisor->roles);
    const int64_t numbers[] = {parts_from(examples, 2), parts_of(examples, ADVICE_MICRO_BATCH_TWICE),
                               parts_of(examples, ADVICE_MICRO_BATCH_FOUR_TIMES)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct advice_item other = *item;
        if (!numbers[i] || numbers[i] == item->parts) continue;
        if (!predict(advisor, numbers[i], has_sums, &other)) return false;
        others = arena_printf(advisor->arena, "%s%s%s in %lld", others, *others ? ", " : "",
                              size_string(other.predicted_total_bytes, advisor->arena), (long long)numbers[i]);
        if (!others) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for numbers of parts");
    }
    if (*others) advisor_say(advisor, item, "In other numbers of parts: %s.", others);
    return true;
}

static void say_zeros(struct advisor *advisor, struct advice_item *item) {
    const struct shape_set tables = only_looked_up_find(advisor);
    int64_t bytes = zeros_bytes(advisor, &tables);
    if (!bytes) return;
    advisor_say(advisor, item,
                "The update reads zeros as large as tables beside their sums, as Adagrad's does: %s of them are there "
                "through all parts.",
                size_string(bytes, advisor->arena));
}

static void say_sums(struct advisor *advisor, struct advice_item *item) {
    int64_t bytes = sums_bytes(advisor);
    const char *but = bytes < advisor_trained_bytes(advisor) ? " but for tables whose rows the step sets by itself"
                                                             : "";
    advisor_say(advisor, item, "The sums of the gradients are as large as the weights%s, %s, all the time.", but,
                size_string(bytes, advisor->arena));
    say_zeros(advisor, item);
}

static void say_parts(struct advisor *advisor, bool has_sums, struct advice_item *item) {
    item->applies = true;
    long long examples = program_roles_examples(&advisor->roles), parts = item->parts;
    advisor_say(advisor, item, "The batch of %lld in %lld parts of %lld: of what follows the batch, one part is alive.",
                examples, parts, examples / parts);
    if (few_pictures_in_lanes(advisor, examples / parts))
        advisor_say(advisor, item,
                    "A part's pictures do not fill the lanes of a tile: where the compiler keeps them there, they take "
                    "more than their part.");
    if (has_sums)
        advisor_say(advisor, item, "The program sums gradients over a loop already: the sums are there.");
    else
        say_sums(advisor, item);
}

bool advise_micro_batch(struct advisor *advisor, struct advice_item *item) {
    item->how = "Reshape the batch to [parts, batch / parts, ...] and scan over the parts in the step, adding up "
                "jax.grad; divide by the number of parts before the one update. What is taken over the batch, such as "
                "batch normalization, is taken over a part then.";
    if (!advisor->roles.is_training)
        return advisor_no_use(advisor, item, "The program trains nothing: there are no gradients to accumulate.");
    if (advisor->roles.batch < 2 || !dimension_flow_has_marks(&advisor->batch))
        return advisor_no_use(advisor, item, advisor_why_no_batch(advisor));
    if (advisor->roles.is_one_example)
        return advisor_no_use(advisor, item, "The step takes one example: there are no parts of a batch.");
    if (advisor->roles.is_graph && !advisor->roles.graphs)
        return advisor->roles.graphs_most > 1
                   ? advisor_doubt_graphs(advisor)
                   : advisor_no_use(advisor, item, "The inputs are one graph: a part of its edges is another graph.");
    bool has_sums = advisor_is_accumulating(advisor);
    advisor->doubt = advisor_doubt_of_batch(advisor);
    int64_t parts = parts_of(program_roles_examples(&advisor->roles), item->id);
    if (!parts) return advisor_no_use(advisor, item, "The batch has no divisor from 2 to 16.");
    few_pictures_doubt(advisor, advisor->roles.batch / parts);
    if (few_pictures_already(advisor))
        advisor_doubt_all(advisor,
                          "Compile it so: convolutions of fewer than eight pictures are computed in strips, and "
                          "the compiler may choose others for smaller parts.");
    item->parts = parts;
    say_parts(advisor, has_sums, item);
    if (item->id == ADVICE_MICRO_BATCH && !say_others(advisor, has_sums, item)) return false;
    advisor->told[item->id] = (struct what_if_result){0};  // of these parts, not of the others
    return predict(advisor, parts, has_sums, item);
}
