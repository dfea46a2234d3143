// What all interventions share: the program as it is, and the way to ask what it would be. Private to this room.
//
//     advisor_sizes: a column to fill, as the buffers are now
//     advisor_predict: the column -> total and peak in the item
#pragma once

#include "analysis/base/size_text.h"
#include "analysis/advice/advice.h"
#include "analysis/advice/advice_bounds.h"
#include "analysis/advice/donation.h"
#include "analysis/groups/phases.h"
#include "analysis/advice/program_roles.h"
#include "analysis/advice/type_flow.h"
#include "analysis/advice/understanding.h"
#include "analysis/advice/what_if.h"
#include "analysis/program/leaf_origins.h"
#include "analysis/program/schedule.h"

struct advisor {
    const struct hlo_module *module;
    struct arena *arena;  // while the advice is made
    struct arena *kept;   // texts of the advice
    struct program_graph graph;
    struct program_roles roles;
    struct dimension_flow batch;
    struct dimension_flow steps;  // what loops take one at a time: loop_steps.h
    const uint32_t *caller;       // of each computation: callers.h
    struct schedule schedule;
    const uint8_t *is_stacking;  // of each node: a loop whose turns stack up what follows the batch
    struct type_flow types;
    struct phases phases;
    const uint32_t *first_use;       // of each input: first_use.h
    const bool *untrained_products;  // of each node: one that no trained weight has a part in, untrained.h
    const bool *untrained_weights;   // of each leaf: an input that such products alone read
    uint8_t *donations;              // enum donation of each input
    struct leaf_origins origins;     // operations with op_names that tell
    struct what_if what_if;
    struct what_if_result *told;  // by id: what the items' totals are from
    struct advice_request request;
    struct error *error;
    struct advice_reach reach;  // of the change that is asked for now
    struct advice_doubt doubt;  // about it
    struct peak_bytes at_peak;
    int64_t sequence;              // 0: not found
    double offloaded_part;         // of state on the host and its outputs, what is saved
    bool is_for_gpu;               // compiled by XLA:GPU
    bool is_for_tpu;               // by libtpu: target.h
    bool has_convolutions;         // of the user's: XLA:TPU writes dots as convolutions too, but keeps the user's names
    bool is_rematerialized;        // by the compiler, to save memory
    int64_t rematerialized_bytes;  // of the largest array of that
    int64_t all_rematerialized_bytes;
    bool is_squeezed;  // that often, and with next to no room where the capacity is known
};

enum { ADVICE_WORTH_DIVISOR = 1000 };  // a thousandth of the total is worth saying, and changing something for

// The widest range that is still worth telling, as a part of the total.
#define ADVICE_RANGE_MAX 0.30

// How far off today's total may be where a change does nothing: the compiler may still do a little otherwise.
#define ADVICE_NO_USE_OFF 0.01

// The sizes of all buffers as they are. NULL: the error is set.
int64_t *advisor_sizes(struct advisor *advisor);

// What a buffer weighs as `shape` instead of its own.
int64_t advisor_reshaped(const struct advisor *advisor, uint32_t buffer, const struct array_shape *shape);

// Fills the item's totals from the change. `below` and `above` say how far off it may be, in parts of the predicted
// total; what fast memory may take or give comes on top.
// The run's buffers are added to what the change reaches.
MUST_USE bool advisor_run(struct advisor *advisor, const struct what_if_change *change, struct what_if_result *result);
MUST_USE bool advisor_predict(struct advisor *advisor, const struct what_if_change *change, double below, double above,
                              struct advice_item *item);

// The item's totals from a total that was found otherwise.
void advisor_set_totals(const struct advisor *advisor, const struct what_if_result *result, double below, double above,
                        struct advice_item *item);

// The range reaches `below` and `above` the prediction at least, in parts of it.
void advice_widen(struct advice_item *item, double below, double above);

// The same, as far as the range stays narrower than a tenth of the prediction.
void advice_widen_narrowly(struct advice_item *item, double below, double above);

// The same to what steps of other authors needed at first sight.
void advisor_widen_training(const struct advisor *advisor, struct advice_item *item);

// The change does nothing here: totals as they are. `why` is the first of the evidence. True.
bool advisor_no_use(const struct advisor *advisor, struct advice_item *item, const char *why);

__attribute__((format(printf, 3, 4))) void advisor_say(const struct advisor *advisor, struct advice_item *item,
                                                       const char *format, ...);

// Before all that was said of it: why it does not apply, or is not told.
void advisor_say_first(const struct advisor *advisor, struct advice_item *item, const char *why);

// Finds the operations that say what arrays are. False at the arena's limit.
MUST_USE bool advisor_find_origins(struct advisor *advisor);

// "jit(step)/jvp()/exp f32[8,1023,50257], train.py:12"; on the arena.
const char *advisor_buffer_text(const struct advisor *advisor, uint32_t buffer);

// Is an input state that the forward pass reads (the optimizer's own is not), or a weight that nobody trains?
bool advisor_is_weight(const struct advisor *advisor, uint32_t input);

// Does the source make bfloat16 of weights itself? Then it computes in that, whatever they are stored in.
bool advisor_computes_in_bf16(const struct advisor *advisor);

// Do loops keep one array of each turn, but take no weights one at a time? So do loops over time, and over layers that
// share their weights.
bool advisor_is_over_time(const struct advisor *advisor);

// What one repeated block gets from the one before; 0 without blocks.
int64_t advisor_stream_bytes(const struct advisor *advisor);

// The program as it is.
struct what_if_result advisor_now(const struct advisor *advisor);

// The leaf of a buffer, or HLO_NONE.
static inline uint32_t advisor_leaf(const struct advisor *advisor, uint32_t buffer) {
    return advisor->graph.leaf_of_buffer[buffer];
}

// The buffers of all temporaries, those that lie in outputs (residents.h) last: a TPU's replay has them already.
static inline uint32_t advisor_temporary_count(const struct advisor *advisor) {
    const struct what_if *what_if = &advisor->what_if;
    return what_if->replay.span_count + (what_if->is_for_tpu ? 0 : what_if->residents.guest_count);
}

static inline uint32_t advisor_temporary(const struct advisor *advisor, uint32_t i) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    return i < replay->span_count ? replay->spans[i].buffer
                                  : advisor->what_if.residents.first_guest + (i - replay->span_count);
}

// Nothing of what the change is about is known: `help` says what would tell.
static inline void advisor_doubt_all(struct advisor *advisor, const char *help) {
    advisor->doubt.may_go_bytes = advisor->doubt.population_bytes;
    advisor->doubt.help = help;
}

// Everything that grows with the marked dimensions at half their size.
MUST_USE bool advisor_halve(struct advisor *advisor, const struct dimension_flow *flow, struct what_if_result *result);

// Where nothing is trained, little is on the heap, and what of it fast memory takes makes the total. GPUs have none.
static inline bool advisor_is_wide_untrained(const struct advisor *advisor) {
    return !advisor->roles.is_training && !advisor->is_for_gpu;
}

// What lies in caches that XLA:GPU returns are the same caches, laid out as attention reads them: one that is written
// in place needs such a copy for a moment, and two programs took no more room for theirs once donated.
static inline bool advisor_lodges_caches(const struct advisor *advisor) {
    return advisor->is_for_gpu && !advisor->roles.is_training;
}

// When node `node` runs: what is inside of a fusion or a loop when that does. SCHEDULE_NEVER: no sequence tells.
uint32_t advisor_time_of(const struct advisor *advisor, uint32_t node);

// Are gradients summed over parts already? Then forward and backward pass are inside of a loop of the user's: op names
// have the loop before the transposition.
bool advisor_is_accumulating(const struct advisor *advisor);

// Of the weights that are trained, one of each: as many are their gradients.
int64_t advisor_trained_bytes(const struct advisor *advisor);

// What of the batch's bytes is not known.
struct advice_doubt advisor_doubt_of_batch(const struct advisor *advisor);

// What would tell more of this program: op names where it has none, the batch where none is known; else `otherwise`.
const char *advisor_help(const struct advisor *advisor, const char *otherwise);

// Why there is no batch to be divided.
const char *advisor_why_no_batch(const struct advisor *advisor);

// Of all of it, where no batch was found.
struct advice_doubt advisor_doubt_without_batch(const struct advisor *advisor);

// Of a graph that may be several joined to one (program_roles.graphs_most). True.
bool advisor_doubt_graphs(struct advisor *advisor);

bool advise_donation(struct advisor *advisor, struct advice_item *item);
bool advise_batch(struct advisor *advisor, struct advice_item *item);
bool advise_sequence(struct advisor *advisor, struct advice_item *item);
bool advise_micro_batch(struct advisor *advisor, struct advice_item *item);
bool advise_bf16_parameters(struct advisor *advisor, struct advice_item *item);
bool advise_bf16_temporaries(struct advisor *advisor, struct advice_item *item);
bool advise_rematerialization(struct advisor *advisor, struct advice_item *item);
bool advise_rematerialization_but_products(struct advisor *advisor, struct advice_item *item);
bool advise_int8_weights(struct advisor *advisor, struct advice_item *item);
bool advise_shard_parameters(struct advisor *advisor, struct advice_item *item);
bool advise_shard_all(struct advisor *advisor, struct advice_item *item);
bool advise_alignment(struct advisor *advisor, struct advice_item *item);
bool advise_offload_optimizer(struct advisor *advisor, struct advice_item *item);
bool advise_offload_activations(struct advisor *advisor, struct advice_item *item);
bool advise_debug_print(struct advisor *advisor, struct advice_item *item);
