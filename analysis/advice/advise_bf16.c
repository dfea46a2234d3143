// bfloat16 instead of float32: what is stored, or what is computed.
//
//     what the program says                     what is stored in bfloat16 then changes
//     w.astype(bf16), x @ w                     the stored, the copies in bfloat16 (they go), gradients: one total
//     x @ w in float32; the source widens it    the stored alone
//     x @ w in float32; the source follows w    the stored, and what is computed of it: a second total
//
// A module computed in float32 does not tell which of the last two its source would do: the first is predicted, the
// range goes down to the second, and both are told.
#include "analysis/advice/advisor.h"
#include "analysis/advice/cast_copy.h"
#include "analysis/advice/kept_wide.h"
#include "analysis/advice/only_looked_up.h"
#include "analysis/advice/row_copies.h"
#include "analysis/hlo/element_type.h"
#include "analysis/hlo/shape.h"
#include "analysis/program/op_name.h"

#include <math.h>

enum { BF16_BITS = 16 };

static int64_t narrowed(const struct advisor *advisor, uint32_t buffer, uint32_t leaf) {
    struct array_shape shape = advisor->graph.leaves[leaf];
    shape.element_type = ELEMENT_TYPE_BF16;
    shape.element_bits = BF16_BITS;
    return advisor_reshaped(advisor, buffer, &shape);
}

static bool is_f32(const struct advisor *advisor, uint32_t leaf) {
    return leaf != HLO_NONE && advisor->graph.leaves[leaf].element_type == ELEMENT_TYPE_F32;
}

// --- Parameters ---

// Inputs, and the outputs that mirror them.
static bool is_stored(const struct advisor *advisor, uint32_t buffer) {
    bool is_own = buffer < advisor->what_if.module->buffer_count;
    uint32_t a = is_own ? advisor->module->allocation_of_buffer[buffer] : HLO_NONE;
    if (a == HLO_NONE) return false;
    const struct hlo_allocation *allocation = &advisor->module->allocations[a];
    return allocation->is_entry_parameter || allocation->maybe_live_out;
}

enum computed {
    COMPUTED_WIDE,  // but for tables (only_looked_up.h)
    COMPUTED_AS_BEFORE,
    COMPUTED_AS_STORED,
    COMPUTED_ALL_AS_STORED,  // softmaxes too
};

struct kept_shapes {
    struct shape_set exponentials, tables;  // only_looked_up.h
    struct shape_set twice;                 // of the exponentials'
};

static int64_t with_narrow(int64_t bytes, int64_t narrow_bytes) {
    return what_if_bytes((double)bytes + (double)narrow_bytes);
}

static bool becomes_narrow(const struct advisor *advisor, uint32_t buffer, uint32_t leaf, enum computed computed,
                           const struct kept_shapes *kept) {
    const struct array_shape *shape = &advisor->graph.leaves[leaf];
    if (!is_f32(advisor, leaf) || advisor->types.classes[leaf] != TYPE_NARROW) return false;
    if (is_stored(advisor, buffer)) return true;
    if (computed == COMPUTED_AS_BEFORE) return !advisor->batch.marks[leaf];
    if (computed == COMPUTED_WIDE) return shape_set_has(&kept->tables, shape);
    if (computed == COMPUTED_ALL_AS_STORED || kept_wide_is_of_scores(advisor, leaf)) return true;
    return !shape_set_has(&kept->exponentials, shape);
}

static bool predict_parameters(struct advisor *advisor, enum computed computed, const struct shape_set *tables,
                               struct what_if_result *result) {
    int64_t *sizes = advisor_sizes(advisor);
    struct what_if_change change = {.sizes = sizes};
    struct kept_shapes kept = {.exponentials = kept_wide_find(advisor), .tables = *tables};
    if (!sizes) return false;
    if (computed == COMPUTED_AS_STORED) kept.twice = kept_wide_made_twice(advisor, &kept.exponentials);
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        if (leaf == HLO_NONE) continue;
        bool is_narrow = becomes_narrow(advisor, i, leaf, computed, &kept);
        if (is_narrow)
            sizes[i] = narrowed(advisor, i, leaf);
        else if (kept_wide_is_made_twice(advisor, leaf, &kept.twice))
            sizes[i] = with_narrow(sizes[i], narrowed(advisor, i, leaf));
        if (computed != COMPUTED_WIDE && cast_copy_is_needless(advisor, leaf)) sizes[i] = 0;
    }
    return advisor_run(advisor, &change, result);
}

static uint32_t count_f32_inputs(const struct advisor *advisor) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) count += is_f32(advisor, advisor->roles.inputs[i].leaf);
    return count;
}

// How far off, in parts of the total: what is stored is known to the byte, what becomes of gradients is not.
#define STORED_BELOW 0.03
#define STORED_ABOVE 0.015
#define GRADIENTS_BELOW 0.04
#define GRADIENTS_BELOW_ON_GPU 0.03  // nothing of them moves to fast memory
#define GRADIENTS_ABOVE 0.03
#define NARROWED_BELOW 0.09  // of activations that become bfloat16: what must stay float32 does not show
#define NARROWED_BELOW_OF_TOKENS_ON_GPU 0.15
#define NARROWED_ABOVE 0.21
#define NARROWED_ABOVE_OF_PICTURES_ON_GPU 0.36  // stacks of loops and windows of pictures stay float32 in some

// Does more than what is stored change by much?
static bool are_apart(int64_t stored_bytes, int64_t other_bytes) {
    const double apart = 0.005;
    return (double)stored_bytes - (double)other_bytes > apart * (double)stored_bytes;
}

static double reached_bytes(const struct advisor *advisor) {
    double reached = (double)advisor->reach.indefinite_bytes + (double)advisor->reach.temporary_bytes;
    double total = (double)advisor->what_if.total_bytes;
    return reached < total ? reached : total;
}

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// Pictures and rows of graphs become as narrow as what makes them; between tokens there is more that stays wide.
static int64_t most_followed(const struct advisor *advisor, int64_t followed_bytes) {
    double above = advisor->is_for_gpu && advisor->has_convolutions ? NARROWED_ABOVE_OF_PICTURES_ON_GPU : 0.049;
    bool is_known = advisor->has_convolutions || advisor->roles.is_graph;
    return is_known ? what_if_bytes((1 + above) * (double)followed_bytes) : 0;
}

// The range goes down to where the other total may be, of a source that takes its softmaxes in the type it is given.
// Where nothing is trained, what becomes of caches is not known well enough for a range of the first total alone.
static void tell_followed(struct advisor *advisor, const struct what_if_result *followed, int64_t least,
                          struct advice_item *item) {
    const double apart = 0.05;
    double difference = (double)item->predicted_total_bytes - (double)followed->total_bytes;
    if (difference <= apart * (double)followed->total_bytes) return;
    double below = (double)(item->predicted_total_bytes - item->low_bytes) / (double)item->predicted_total_bytes;
    item->followed_total_bytes = followed->total_bytes;
    item->followed_high_bytes = most_followed(advisor, followed->total_bytes);
    item->kept_low_bytes = advisor->roles.is_training ? item->low_bytes : 0;
    item->low_bytes = what_if_bytes((double)least * (1 - below));
    double reached = reached_bytes(advisor);
    advisor->doubt = (struct advice_doubt){
        .population_bytes = reached,
        .may_go_bytes = fmin(difference, reached / 2),  // both totals are told, even where all becomes half as large
        .help = "Compile it with bfloat16 parameters: what the step then computes in depends on its source."};
    const char *least_kept = item->kept_low_bytes && !advisor->is_squeezed
                                 ? arena_printf(advisor->arena, ", and %s at least",
                                                size_string(item->kept_low_bytes, advisor->arena))
                                 : "";
    const char *most = item->followed_high_bytes && !advisor->is_squeezed
                           ? arena_printf(advisor->arena, ", and %s at most",
                                          size_string(item->followed_high_bytes, advisor->arena))
                           : "";
    advisor_say(
        advisor, item,
        "Where the source casts the parameters back to float32 before it computes, only storage is less: a total "
        "of %s, which is predicted%s. Where it computes with them as they are, more arrays become bfloat16: a "
        "total of %s%s. The program does not tell which.",
        size_string(item->predicted_total_bytes, advisor->arena), least_kept ? least_kept : "",
        size_string(followed->total_bytes, advisor->arena), most ? most : "");
}

// The range goes up to where a source would be that widens its tables before it takes rows of them.
static bool tell_tables(struct advisor *advisor, const struct shape_set *tables, int64_t copies,
                        struct advice_item *item) {
    const struct shape_set none = {.count = 0};
    struct what_if_result widened;
    if (!tables->count) return true;
    if (!predict_parameters(advisor, COMPUTED_WIDE, &none, &widened)) return false;
    what_if_add_temporary(&widened, copies);
    if (widened.total_bytes <= item->high_bytes) return true;
    int64_t begun = row_copies_begun(advisor, 1, BF16_BITS);
    item->high_bytes = begun + what_if_bytes((double)widened.total_bytes * (1 + STORED_ABOVE));
    advisor->doubt.population_bytes = reached_bytes(advisor);
    advisor->doubt.may_stay_bytes = (double)(widened.total_bytes - item->predicted_total_bytes);
    advisor->doubt.help = "Compile it with bfloat16 parameters: where its tables are cast depends on its source.";
    advisor_say(advisor, item,
                "Rows are expected to be taken of tables as they are stored, so that copies of the tables and their "
                "gradients become bfloat16 too; a source that casts whole tables to float32 first needs %s.",
                size_string(widened.total_bytes, advisor->arena));
    return true;
}

bool advise_bf16_parameters(struct advisor *advisor, struct advice_item *item) {
    const struct shape_set tables = only_looked_up_find(advisor);
    struct what_if_result stored, computed, all;
    bool is_known = advisor_computes_in_bf16(advisor);
    item->how =
        advisor->roles.is_training
            ? "Create the parameters, and the optimizer's state, with dtype=jnp.bfloat16; a float32 master copy of the "
              "weights keeps small updates from being lost, and costs its bytes again."
            : "Cast the parameters once, when they are loaded: x.astype(jnp.bfloat16). Compare what comes out with "
              "the wide ones.";
    uint32_t count = count_f32_inputs(advisor);
    if (!count) return advisor_no_use(advisor, item, "No input is float32.");
    if (!predict_parameters(advisor, COMPUTED_WIDE, &tables, &stored) ||
        !predict_parameters(advisor, is_known ? COMPUTED_AS_BEFORE : COMPUTED_AS_STORED, &tables, &computed))
        return false;
    int64_t copies = 0;
    if (!is_known && !cast_copy_add_widened(advisor, &stored, &copies)) return false;
    item->applies = item->changes_numerics = true;
    advisor_say(advisor, item, count == 1 ? "%u input is float32." : "%u inputs are float32.", count);
    if (copies)
        advisor_say(advisor, item,
                    "A source that casts the parameters back to float32 before it computes has float32 copies of what "
                    "products and loops take, which add %s at the peak.",
                    size_string(copies, advisor->arena));
    bool has_more = is_known && are_apart(stored.total_bytes, computed.total_bytes);
    bool has_gradients = has_more && advisor->roles.is_training;
    if (has_more)
        advisor_say(advisor, item, "The step makes bfloat16 of weights before it computes: those copies go%s",
                    has_gradients ? ", and gradients that are as large as weights halve too." : ".");
    double gradients_below = advisor->is_for_gpu ? GRADIENTS_BELOW_ON_GPU : GRADIENTS_BELOW;
    advisor_set_totals(advisor, is_known ? &computed : &stored, has_gradients ? gradients_below : STORED_BELOW,
                       has_gradients ? GRADIENTS_ABOVE : STORED_ABOVE, item);
    advisor_widen_training(advisor, item);
    if (is_known) return true;
    if (!predict_parameters(advisor, COMPUTED_ALL_AS_STORED, &tables, &all)) return false;
    tell_followed(advisor, &computed, least_of(computed.total_bytes, all.total_bytes), item);
    return tell_tables(advisor, &tables, copies, item);
}

// --- Activations ---

// Does the source's own name say that it is of a softmax, or a sum?
static bool is_named_wide(const struct advisor *advisor, uint32_t leaf) {
    static const char *const names[] = {"softmax", "logsumexp", "/exp", "/log", "/reduce_sum"};
    struct bytes op_name = advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]].op_name;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_contains(op_name, bytes_of(names[i]))) return true;
    }
    return false;
}

// What exponentials are taken of may become half as large after all; what a step in bfloat16 has in float32 by such a
// name it has so on purpose.
static struct advice_doubt doubt_of_temporaries(const struct advisor *advisor, const struct shape_set *exponentials) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    struct advice_doubt doubt = {.population_bytes = advisor->at_peak.other_f32,
                                 .may_go_bytes = advisor->at_peak.other_f32,
                                 .part = 0.5,
                                 .help = advisor_help(advisor, "It follows neither the batch nor the weights: compile "
                                                               "the step in bfloat16 to know.")};
    bool is_on_purpose = advisor_computes_in_bf16(advisor);
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t buffer = replay->live_at_peak[i], leaf = advisor_leaf(advisor, buffer);
        if (!is_f32(advisor, leaf) || !advisor->batch.marks[leaf]) continue;
        double bytes = (double)advisor->module->buffers[buffer].size_bytes;
        doubt.population_bytes += bytes;
        if (!shape_set_has(exponentials, &advisor->graph.leaves[leaf]) || kept_wide_is_of_scores(advisor, leaf))
            continue;
        doubt.may_go_bytes += is_on_purpose && is_named_wide(advisor, leaf) ? bytes : bytes / 2;
    }
    if (doubt.may_go_bytes > 2 * advisor->at_peak.other_f32)
        doubt.help = "Exponentials are taken of arrays like it, as in a softmax, or the program has them in float32 on "
                     "purpose: compile the step in bfloat16 to know.";
    return doubt;
}

// Arrays that follow the batch, or are kept between forward and backward: the model's activations.
bool advise_bf16_temporaries(struct advisor *advisor, struct advice_item *item) {
    int64_t *sizes = advisor_sizes(advisor);
    int64_t narrowed_bytes = 0, wide_bytes = 0;
    struct shape_set exponentials = kept_wide_find(advisor), twice = kept_wide_made_twice(advisor, &exponentials);
    item->how =
        "Cast the inputs of the model to bfloat16 and compute in it, x = x.astype(jnp.bfloat16), with the weights "
        "cast where they are used; keep sums and losses in float32.";
    if (!sizes) return false;
    for (uint32_t i = 0; i < advisor_temporary_count(advisor); i++) {
        uint32_t buffer = advisor_temporary(advisor, i), leaf = advisor_leaf(advisor, buffer);
        if (!is_f32(advisor, leaf) || !advisor->batch.marks[leaf]) continue;
        bool is_wide = shape_set_has(&exponentials, &advisor->graph.leaves[leaf]) &&
                       !kept_wide_is_of_scores(advisor, leaf);
        *(is_wide ? &wide_bytes : &narrowed_bytes) += advisor->module->buffers[buffer].size_bytes;
        if (!is_wide)
            sizes[buffer] = narrowed(advisor, buffer, leaf);
        else if (kept_wide_is_made_twice(advisor, leaf, &twice))
            sizes[buffer] = with_narrow(sizes[buffer], narrowed(advisor, buffer, leaf));
    }
    advisor->doubt = doubt_of_temporaries(advisor, &exponentials);
    if (!narrowed_bytes) return advisor_no_use(advisor, item, "No temporary array that follows the batch is float32.");
    item->applies = item->changes_numerics = true;
    advisor_say(advisor, item, "Over the program, %s of temporary arrays are float32 and follow the batch.",
                size_string(narrowed_bytes, advisor->arena));
    if (wide_bytes)
        advisor_say(advisor, item,
                    "%s more have the dimensions of what exponentials are taken of, as a softmax does: these are "
                    "expected to stay float32.",
                    size_string(wide_bytes, advisor->arena));
    struct what_if_change change = {.sizes = sizes};
    bool is_gpu = advisor->is_for_gpu, has_pictures = advisor->has_convolutions;
    double below = is_gpu && !has_pictures ? NARROWED_BELOW_OF_TOKENS_ON_GPU : NARROWED_BELOW;
    if (!advisor_predict(advisor, &change, below, NARROWED_ABOVE, item)) return false;
    if (!is_gpu || !has_pictures) return true;
    advice_widen(item, NARROWED_BELOW, NARROWED_ABOVE_OF_PICTURES_ON_GPU);
    advisor_say(advisor, item,
                "With pictures more may stay float32: what loops stack up of them, and windows that attend to "
                "themselves.");
    return true;
}
