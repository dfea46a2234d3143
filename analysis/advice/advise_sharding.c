// Sharding the parameters, or parameters and batch, over several chips: what each array weighs then (sharding_split.h),
// what comes on top of that (sharded.h), and how much of it is known.
//
//     w f32[1024,4096] -> f32[256,4096] on each of 4 chips       + what is gathered of it, or exchanged (gathered.h)
#include "analysis/advice/advisor.h"
#include "analysis/advice/few_pictures.h"
#include "analysis/advice/looked_up.h"
#include "analysis/advice/say_sharded.h"
#include "analysis/advice/scattered.h"
#include "analysis/advice/sharded.h"
#include "analysis/advice/sharding_doubts.h"
#include "analysis/advice/whole_operands.h"

// On a TPU an array of examples more or less may be whole at once: one program in two was exact, the others as far off.
#define WHOLE_BELOW 0.115
#define WHOLE_ABOVE 0.165

// A program that is short of memory keeps less than it would: about this part of the temporaries comes back.
#define HIDDEN 0.15

// Of what a GPU's program in bfloat16 needs with the batch split: of 28 a third were off by more than 4 to 6 %, one by
// more than this.
#define OFF_IN_BF16 0.11

// Of the activations of convolutions whose batch is split, what may come together whole: on GPUs little more has been
// seen (docs/advice.md), on TPUs so much that nothing is told. Along edges it has been as much on GPUs.
#define GATHERED_OF_SPLIT_BATCH 0.2
#define GATHERED_OF_SPLIT_BATCH_ON_TPU 0.75

static void look_for_uneven(const struct advisor *advisor, uint32_t leaf, uint8_t marks, struct sharded *sharded) {
    const double some = 0.005;
    struct uneven *uneven = &sharded->uneven;
    int64_t parts;
    if (sharding_parts_of(&sharded->split.flow, leaf, marks, &parts) < 0) return;
    if ((double)array_shape_bytes(&advisor->graph.leaves[leaf]) <= some * (double)advisor->what_if.total_bytes) return;
    parts = sharding_parts_shared(&sharded->split.flow, leaf, marks);
    uneven->is_any |= parts < advisor->request.ways;
    uneven->is_whole |= parts == 1;
}

// Inputs that are no weights lie as the user puts them: whole.
static bool is_data(const struct advisor *advisor, uint32_t buffer) {
    const struct hlo_module *module = advisor->module;
    uint32_t a = buffer < advisor->what_if.module->buffer_count ? module->allocation_of_buffer[buffer] : HLO_NONE;
    if (a == HLO_NONE || !module->allocations[a].is_entry_parameter) return false;
    int64_t number = module->allocations[a].parameter_number;
    return number >= 0 && number < advisor->roles.input_count && !sharding_is_weight(advisor, (uint32_t)number);
}

// Are most weights in arrays of one dimension, which the program cuts into matrices by itself?
static bool is_flat(const struct advisor *advisor) {
    double flat = 0, others = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (!sharding_is_weight(advisor, i)) continue;
        const struct array_shape *shape = &advisor->graph.leaves[advisor->roles.inputs[i].leaf];
        double *sum = shape->rank == 1 ? &flat : &others;
        *sum += (double)array_shape_bytes(shape);
    }
    return flat > others;
}

static void doubt_flat(const struct advisor *advisor, struct advice_doubt *doubt) {
    doubt->may_go_bytes += advisor->at_peak.batch;
    doubt->help =
        "Most weights lie in arrays of one dimension, which the program cuts into matrices by itself: compile "
        "it sharded to know.";
}

static struct advice_doubt doubt_of_sharding(const struct advisor *advisor) {
    const struct peak_bytes *peak = &advisor->at_peak;
    struct advice_doubt doubt = {.population_bytes = peak->batch + peak->other + peak->state,
                                 .may_go_bytes = peak->other,
                                 .part = 1 - 1.0 / (double)advisor->request.ways,
                                 .help = advisor_help(advisor, "Neither weights nor the batch reach it: compile it "
                                                               "sharded to know.")};
    if (is_flat(advisor)) doubt_flat(advisor, &doubt);
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *in = &advisor->roles.inputs[i];
        if (in->allocation == HLO_NONE) continue;
        double bytes = (double)advisor->module->allocations[in->allocation].size_bytes;
        if (in->mirror != HLO_NONE && !in->is_donated) bytes *= 2;
        bool is_doubted = understanding_is_unknown_input(&advisor->roles, &advisor->batch, i);
        doubt.population_bytes += is_doubted || sharding_is_weight(advisor, i) ? bytes : 0;
        doubt.may_stay_bytes += is_doubted ? bytes : 0;
    }
    return doubt;
}

// Between convolutions, and along edges, the partitioner keeps some activations split and gathers others. With the
// batch split as well, most of them stay split.
static double maybe_gathered(const struct advisor *advisor, const struct sharded *sharded) {
    const struct sharding_split *split = &sharded->split;
    if (sharded_is_by_edges(advisor, sharded)) return 0;
    bool is_much = advisor->is_for_tpu || advisor->roles.is_graph;
    double of_split = is_much ? GATHERED_OF_SPLIT_BATCH_ON_TPU : GATHERED_OF_SPLIT_BATCH;
    double bytes = advisor->roles.is_graph ? advisor->at_peak.batch : pictures_bytes_at_peak(advisor);
    if (!split->is_by_features && !advisor->roles.is_graph) return 0;
    if (sharded->pictures.at_end_bytes) return 0;
    return (sharded->is_batch_split ? of_split : 1) * bytes;
}

// Of a step for a TPU, whose gradients are in columns: with the batch whole, or of pooled rows.
static struct waiting_bytes find_waiting(const struct advisor *advisor, const struct sharded *sharded) {
    bool is_split = !sharded_is_batch_whole(sharded);
    if (!advisor->is_for_tpu || !advisor->roles.is_training) return (struct waiting_bytes){0};
    if (sharded_is_by_edges(advisor, sharded)) return (struct waiting_bytes){0};
    if (is_split && !sharded->habits.is_pooled) return (struct waiting_bytes){0};
    return gathered_on_tpu(advisor, &sharded->split.flow, is_split, sharded->then.temporary_bytes);
}

static void widen_by_waiting(const struct advisor *advisor, const struct waiting_bytes *waiting,
                             struct advice_item *item) {
    item->low_bytes -= waiting->likely - waiting->fewest;
    item->high_bytes += waiting->most - waiting->likely;
    if (waiting->most > item->predicted_total_bytes / 20)
        advisor_say(advisor, item,
                    "Products gather what the chips share, between %s and %s of it at once: how far ahead the "
                    "compiler starts, nothing here tells.",
                    size_string(waiting->fewest, advisor->arena), size_string(waiting->most, advisor->arena));
}

// Of frames, patches and the like, rather than tokens, and for pooled rows of nodes, a TPU's chips gather from nothing
// to nearly all of what they share. Pooled rows of tokens are shared as the rows are.
static void doubt_frames(struct advisor *advisor, const struct sharding_habits *habits) {
    bool is_of_tokens = habits->data.has_tokens && !advisor->has_convolutions;
    bool is_of_frames = habits->data.has_frames && !is_of_tokens;
    bool is_pooled = habits->is_pooled && !(is_of_tokens && !advisor->roles.is_graph);
    if (!advisor->is_for_tpu || !advisor->roles.is_training || !(is_of_frames || is_pooled)) return;
    advisor->doubt.may_stay_bytes += advisor->at_peak.batch;
    advisor->doubt.help =
        "Compile it sharded: of data that are no tokens, or rows that are pooled, what the chips gather whole differs "
        "from model to model.";
}

// XLA:GPU gathers more often than it does not, where little is open.
static double below_of(const struct advisor *advisor, double above) {
    const double little = 0.05, of_it = 0.6;
    return advisor->is_for_gpu && above < little ? of_it * above : above;
}

// What the program gives back is shared by all chips or lies whole on each: six heads on four chips come back whole.
static bool is_given_back_whole(const struct advisor *advisor, const struct dimension_flow *split, uint32_t buffer,
                                uint8_t marks) {
    bool is_own = buffer < advisor->what_if.module->buffer_count;
    uint32_t a = is_own ? advisor->module->allocation_of_buffer[buffer] : HLO_NONE,
             leaf = advisor_leaf(advisor, buffer);
    if (a == HLO_NONE || !advisor->module->allocations[a].maybe_live_out) return false;
    int64_t parts;
    return sharding_parts_of(split, leaf, marks, &parts) >= 0 && parts < split->chips;
}

// What each buffer weighs on one chip.
static void resize_split(const struct advisor *advisor, struct sharded *sharded, int64_t *sizes) {
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        if (leaf == HLO_NONE || !array_is(&advisor->graph.leaves[leaf])) continue;
        if (!sharded->is_batch_split && is_data(advisor, i)) continue;
        uint8_t marks = sharding_split_marks(&sharded->split, leaf);
        if (sharded->looked_up[leaf]) {
            sizes[i] = what_if_bytes((double)sizes[i] * sharded->looked_up[leaf]);
            continue;
        }
        look_for_uneven(advisor, leaf, marks, sharded);
        if (sharded->summed_leaves[leaf]) {
            sizes[i] = scattered_size(advisor, leaf, sizes[i]);
            continue;
        }
        if (is_given_back_whole(advisor, &sharded->split.flow, i, marks) || sharded->pictures.leaves[leaf]) continue;
        if (sharded->whole_operands && sharded->whole_operands[leaf]) continue;
        struct array_shape part = sharding_parts_shape(&sharded->split.flow, leaf, marks);
        sizes[i] = advisor_reshaped(advisor, i, &part);
    }
}

static bool run_split(struct advisor *advisor, struct sharded *sharded) {
    int64_t *sizes = advisor_sizes(advisor);
    if (!sizes) return false;
    resize_split(advisor, sharded, sizes);
    struct what_if_change change = {.sizes = sizes};
    if (!advisor_run(advisor, &change, &sharded->then)) return false;
    bool is_one_gathered = advisor->is_for_tpu && advisor->roles.is_training;
    if (!sharded->is_batch_split || is_one_gathered) return true;
    return gathered_weights_find(advisor, &sharded->split.flow, &sharded->weights_bytes);
}

// Exchanged are as many bytes as a good part of what the chip is said to need: what of them is whole, and when, makes
// its total. At one place, the logits, that is known: forwards, backwards, and computed again.
static void doubt_exchanged(struct advisor *advisor, const struct sharded *sharded) {
    enum { OF_LOGITS = 4 };
    const double good_part = 0.25;
    if (sharded->batch.exchanged_bytes <= good_part * (double)sharded->then.total_bytes) return;
    if (sharded->batch.exchanged_at <= OF_LOGITS) return;
    advisor->doubt.may_stay_bytes = advisor->doubt.population_bytes;
    advisor->doubt.help = "Compile it sharded: products have the batch split on one side and columns on the other, and "
                          "much of this program is exchanged between them.";
}

static void doubt_split(struct advisor *advisor, const struct sharded *sharded) {
    const struct sharding_split *split = &sharded->split;
    advisor->doubt = doubt_of_sharding(advisor);
    advisor->doubt.may_stay_bytes += maybe_gathered(advisor, sharded);
    if (split->is_by_features)
        advisor->doubt.help =
            "Compile it sharded: the partitioner gathers the input of each convolution that is split by "
            "output features, and may keep it for the backward pass.";
    if (sharded->is_batch_split) few_pictures_doubt(advisor, advisor->roles.batch / advisor->request.ways);
    if (sharded_is_batch_whole(sharded)) doubt_frames(advisor, &sharded->habits);
    if (sharded->is_batch_split && !sharded_is_by_edges(advisor, sharded)) doubt_exchanged(advisor, sharded);
}

// Parameters and batch are most of any program: where chips that share them save nothing, how it is split is not seen.
// Those that share the parameters alone may, but not at half as much again.
static void doubt_nothing_saved(struct advisor *advisor, bool is_batch_split, const struct advice_item *item) {
    enum { LITTLE_DIVISOR = 1000, MUCH_DIVISOR = 2 };
    int64_t total = advisor->what_if.total_bytes;
    if (item->saves_bytes > (is_batch_split ? total / LITTLE_DIVISOR : -total / MUCH_DIVISOR)) return;
    advisor->doubt.may_stay_bytes = advisor->doubt.population_bytes;
    advisor->doubt.help = "By the replay chips that share it would save nothing: how the partitioner splits it is not "
                          "seen. Compile it sharded to know.";
}

static void add_to_totals(struct advisor *advisor, int64_t added, int64_t hidden, struct what_if_result *then) {
    advisor->reach.added_bytes = hidden + (added > 0 ? added : 0);
    if (added < 0) advisor->reach.temporary_bytes -= added;
    then->total_bytes += added + hidden;
    then->peak_bytes += added + hidden;
}

// Where the partitioner leaves much of the batch whole by itself, and what is left once it is told otherwise.
static bool say_constraint(struct advisor *advisor, struct sharded *sharded, struct advice_item *item) {
    const double little = 0.1, worth = 0.75;
    struct advice_reach reach = advisor->reach;
    double whole_share = sharded->batch.whole_share;
    bool is_told = 2 * advisor->doubt.may_stay_bytes < advisor->doubt.population_bytes;
    if (!sharded->is_batch_split || whole_share < little) return true;
    batch_reach_constrain(advisor, &sharded->split);
    sharded->batch = batch_reach_find(advisor, &sharded->split);
    sharded->whole_operands = NULL;
    if (!run_split(advisor, sharded)) return false;
    advisor->reach = reach;
    int64_t total = sharded->then.total_bytes + sharded_added_bytes(advisor, sharded);
    if ((double)total >= worth * (double)item->high_bytes && is_told) return true;
    advisor_say(
        advisor, item,
        "Of what follows the batch at the peak, the weights' columns split %.0f %% before the batch comes there: "
        "x = jax.lax.with_sharding_constraint(x, PartitionSpec('x')) on what the layers begin with splits it by "
        "examples, which leaves about %s.",
        100 * whole_share, size_string(total, advisor->arena));
    return true;
}

static bool find_sharded(struct advisor *advisor, struct sharded *sharded) {
    if (!sharding_split_find(advisor, sharded->is_batch_split, &sharded->split)) return false;
    sharded->looked_up = looked_up_find(advisor, &sharded->split);
    if (sharded->is_batch_split) sharded->batch = batch_reach_find(advisor, &sharded->split);
    sharded->summed_leaves = scattered_not(advisor, &sharded->split);
    bool has_room = sharded->looked_up && sharded->summed_leaves &&
                    whole_pictures_find(advisor, &sharded->split, sharded->is_batch_split, &sharded->pictures);
    if (has_room) has_room = (sharded->whole_operands = whole_operands_find(advisor, &sharded->split.flow));
    if (!has_room || !run_split(advisor, sharded)) return false;
    sharded->habits = sharding_habits_find(advisor, sharded->uneven.is_any);
    sharded->waiting = find_waiting(advisor, sharded);
    const int64_t *sizes = sharded->then.sizes;
    if (sizes && advisor->is_for_gpu && advisor->roles.is_training) sharded->zeros = early_zeros_find(advisor, sizes);
    return !sizes || summed_whole_find(advisor, &sharded->split, sizes, &sharded->summed_whole);
}

// From no part beside a sum that stays whole to all of it, and some.
static void widen_by_twice(const struct sharded *sharded, struct advice_item *item) {
    int64_t likely = summed_twice_bytes(sharded);
    item->low_bytes -= likely;
    item->high_bytes += likely ? sharded->summed_whole.twice_bytes : 0;
}

// Chips run another order, with collectives in it: what that of today leaves empty between arrays beyond a tenth of the
// total is an accident of its own.
static int64_t accidental_waste(const struct what_if_result *then) {
    enum { USUAL_DIVISOR = 10 };
    int64_t waste = then->total_bytes - then->peak_bytes, usual = then->total_bytes / USUAL_DIVISOR;
    return waste > usual ? waste - usual : 0;
}

// On a GPU all weights of a step that trains in bfloat16 are gathered as its own copies in bfloat16 are: what is whole
// is then nearly as well known as with the batch whole. A TPU gathers into fast memory, and ahead of time.
static bool is_gathered_in_bf16(const struct advisor *advisor) {
    return advisor->is_for_gpu && advisor->roles.is_training && advisor_computes_in_bf16(advisor) &&
           !advisor->has_convolutions;
}

// Layers over tokens keep their examples where these win nearly everywhere: six compiled programs were within 3 %. With
// the batch whole 9 of 13 were, too few for a narrow range.
static bool keeps_examples(const struct advisor *advisor, const struct sharded *sharded) {
    const double little = 0.1;
    const struct sharding_habits *habits = &sharded->habits;
    return sharded->is_batch_split && sharded->batch.whole_share < little && is_gathered_in_bf16(advisor) &&
           sharding_is_familiar(habits) && !habits->is_of_tables && !advisor->is_rematerialized;
}

// Nothing beyond what is computed a second time can come back.
static int64_t hidden_bytes(const struct advisor *advisor, int64_t temporary_bytes) {
    int64_t part = what_if_bytes(HIDDEN * (double)temporary_bytes), all = advisor->all_rematerialized_bytes;
    return part < all ? part : all;
}

// As far as programs of that kind were off.
static void widen_by_habits(const struct advisor *advisor, const struct sharded *sharded, struct advice_item *item) {
    const double narrow = 0.1, needed = 0.049;
    bool is_narrow = (double)(item->high_bytes - item->low_bytes) < narrow * (double)item->predicted_total_bytes;
    if (is_narrow && keeps_examples(advisor, sharded)) return advice_widen_narrowly(item, needed, needed);
    sharding_widen(&sharded->habits, sharded->is_batch_split, advisor->is_for_gpu, item);
    if (sharded->is_batch_split && is_gathered_in_bf16(advisor)) advice_widen(item, OFF_IN_BF16, OFF_IN_BF16);
    if (advisor->is_for_gpu && sharding_joins_much(advisor, sharded)) advice_widen(item, 0.15, 0.45);
    if (!advisor->is_for_gpu && advisor->roles.is_training) advice_widen(item, WHOLE_BELOW, WHOLE_ABOVE);
}

static void set_sharded_totals(struct advisor *advisor, const struct sharded *sharded, double spread,
                               struct advice_item *item) {
    struct what_if_result then = sharded->then;
    int64_t accident = accidental_waste(&then);
    then.total_bytes -= accident;
    int64_t hidden = hidden_bytes(advisor, then.temporary_bytes);
    add_to_totals(advisor, sharded_added_bytes(advisor, sharded), hidden, &then);
    advisor->reach.added_bytes += sharded->waiting.most - sharded->waiting.likely +
                                  sharded_partial_sum_bytes(advisor, sharded) + sharded->summed_whole.twice_bytes;
    advisor_set_totals(advisor, &then, below_of(advisor, spread), spread, item);
    widen_by_waiting(advisor, &sharded->waiting, item);
    widen_by_twice(sharded, item);
    item->high_bytes += sharded_partial_sum_bytes(advisor, sharded) + accident;
    if (accident && item->low_bytes > then.peak_bytes) item->low_bytes = then.peak_bytes;
    widen_by_habits(advisor, sharded, item);
}

static bool predict_sharded(struct advisor *advisor, bool is_batch_split, double spread, struct advice_item *item) {
    struct sharded sharded = {.is_batch_split = is_batch_split};
    if (!find_sharded(advisor, &sharded)) return false;
    doubt_split(advisor, &sharded);
    sharding_doubts_find(advisor, &sharded);
    if (is_batch_split && advisor->roles.batch < 2) advisor->doubt = advisor_doubt_without_batch(advisor);
    set_sharded_totals(advisor, &sharded, spread, item);
    doubt_nothing_saved(advisor, is_batch_split, item);
    say_sharded(advisor, &sharded, item);
    return say_constraint(advisor, &sharded, item);
}

static void say_weights(const struct advisor *advisor, struct advice_item *item) {
    int64_t split_bytes = 0, whole_bytes = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (!sharding_is_weight(advisor, i)) continue;
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        int64_t bytes = array_shape_bytes(&advisor->graph.leaves[leaf]);
        bool is_split = sharding_weight_dimension(advisor, leaf) >= 0;
        int64_t *sum = is_split ? &split_bytes : &whole_bytes;
        *sum = what_if_bytes((double)*sum + (bytes > 0 ? (double)bytes : 0));
    }
    const char *whole = whole_bytes ? arena_printf(advisor->arena, "; %s stay whole on each",
                                                   size_string(whole_bytes, advisor->arena))
                                    : "";
    advisor_say(advisor, item, "%s of inputs have a dimension that %lld chips can share%s.",
                size_string(split_bytes, advisor->arena), (long long)advisor->request.ways, whole ? whole : "");
}

static bool has_weights(const struct advisor *advisor) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (sharding_is_weight(advisor, i) && advisor->graph.leaves[advisor->roles.inputs[i].leaf].rank > 1)
            return true;
    }
    return false;
}

static bool can_split_weights(const struct advisor *advisor) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (sharding_is_weight(advisor, i) && sharding_weight_dimension(advisor, advisor->roles.inputs[i].leaf) >= 0)
            return true;
    }
    return false;
}

// JAX refuses an argument whose dimension the chips do not divide.
static bool say_no_such_split(struct advisor *advisor, struct advice_item *item) {
    long long batch = program_roles_examples(&advisor->roles), ways = advisor->request.ways;
    const char *why = batch == 1 ? arena_printf(advisor->arena, "%lld chips cannot share a batch of 1.", ways)
                      : batch < ways
                          ? arena_printf(advisor->arena,
                                         "%lld chips cannot share a batch of %lld: no more chips than examples, so "
                                         "give --ways=%lld or fewer, or a larger batch.",
                                         ways, batch, batch)
                          : arena_printf(advisor->arena,
                                         "A batch of %lld cannot be split %lld ways evenly, which JAX asks for: choose "
                                         "a batch that the chips divide, or other --ways.",
                                         batch, ways);
    return advisor_no_use(advisor, item, why ? why : "");
}

bool advise_shard_parameters(struct advisor *advisor, struct advice_item *item) {
    item->ways = advisor->request.ways;
    const char *how = arena_printf(
        advisor->kept,
        "jax.device_put each weight%s with NamedSharding(mesh, PartitionSpec('x', None)): the first dimension split "
        "over the chips (after the layers of a stacked one, the output features of a convolution, the largest of "
        "four), the batch whole on every chip.",
        advisor->roles.is_training ? ", and its optimizer state," : "");
    item->how = how ? how : "";
    if (!has_weights(advisor))
        return advisor_no_use(advisor, item, "No input of two or more dimensions stands for weights.");
    if (!can_split_weights(advisor))
        return advisor_no_use(advisor, item, "No weight has a dimension that so many chips divide; try fewer --ways.");
    item->applies = true;
    say_weights(advisor, item);
    double usually = advisor->is_for_gpu ? 0.04 : 0.03;
    return predict_sharded(advisor, false, advisor_is_wide_untrained(advisor) ? 0.08 : usually, item);
}

bool advise_shard_all(struct advisor *advisor, struct advice_item *item) {
    item->ways = advisor->request.ways;
    item->how = "As shard_parameters, and the batch split over the same chips: PartitionSpec('x') for its first "
                "dimension (fully sharded data parallelism).";
    if (!has_weights(advisor) && advisor->roles.batch < 2)
        return advisor_no_use(advisor, item, "Neither weights nor a batch were found among the inputs.");
    bool has_batch = advisor->roles.batch > 1 && dimension_flow_has_marks(&advisor->batch);
    int64_t examples = program_roles_examples(&advisor->roles);
    if ((has_batch || examples == 1) && examples % advisor->request.ways) return say_no_such_split(advisor, item);
    item->applies = true;
    say_weights(advisor, item);
    bool is_one_graph = advisor->roles.is_graph && !advisor->roles.graphs;
    if (has_batch)
        advisor_say(advisor, item,
                    is_one_graph ? "The graph's %lld edges, and all that follows them, are split %lld ways."
                                 : "The batch of %lld is split %lld ways.",
                    (long long)examples, (long long)advisor->request.ways);
    return predict_sharded(advisor, true, is_gathered_in_bf16(advisor) ? 0.04 : 0.12, item);
}
