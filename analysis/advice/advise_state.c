// Donating the inputs, and keeping the optimizer's state on the host.
#include "analysis/advice/advisor.h"
#include "analysis/advice/only_looked_up.h"

// How far off a donation may be, in parts of the predicted total.
#define DONATION_BELOW 0.01
#define DONATION_BELOW_AT_MOST 0.07
#define DONATION_ABOVE 0.02
#define DONATION_ABOVE_OF_TRAINING_ON_GPU 0.03  // of 19 programs one took 2.5 % more, two 4 and 7 % less
#define CACHES_BELOW 0.06                       // a cache that is donated needs no copy of its own either
#define CACHES_BELOW_ON_GPU 0.085
#define SQUEEZED_ABOVE 0.05  // what lay in the outputs is packed anew
#define CONVOLUTIONS_BELOW 0.02
#define CONVOLUTIONS_ABOVE 0.08
#define TABLES_MOVE 0.3  // of copies of tables

// How much more than what is moved the total may lose, as a part of that: of compiled programs at most 28 %.
enum { BEYOND_MOVED_DIVISOR = 3 };

static int64_t input_bytes(const struct advisor *advisor, const struct entry_input *input) {
    if (input->allocation == HLO_NONE) return 0;
    const struct hlo_allocation *a = &advisor->module->allocations[input->allocation];
    return a->color == 0 && !a->is_thread_local ? a->size_bytes : 0;
}

// What the total may be above the predicted one.
static double donation_above(const struct advisor *advisor) {
    if (advisor->is_for_gpu && advisor->roles.is_training && !advisor->is_rematerialized)
        return DONATION_ABOVE_OF_TRAINING_ON_GPU;
    bool is_short = advisor->is_rematerialized || advisor->what_if.residents.guest_bytes > 0;
    return is_short ? SQUEEZED_ABOVE : DONATION_ABOVE;
}

// Where donating binds the layout of a convolution's weights on a TPU, what follows can cost as much as it saves, and
// more than the weights hold.
static void widen_donation(const struct advisor *advisor, struct advice_item *item) {
    if (advisor->is_for_gpu || !advisor->has_convolutions) {
        advice_widen_narrowly(item, DONATION_BELOW_AT_MOST, 0);
        return;
    }
    advice_widen_narrowly(item, CONVOLUTIONS_BELOW, CONVOLUTIONS_ABOVE);
    bool may_cost = item->high_bytes > advisor->what_if.total_bytes;
    advisor_say(advisor, item,
                "With convolutions donating can %s: the new weights must then lie as the old ones do, and the compiler "
                "may copy them for it. Compile both before choosing.",
                may_cost ? "cost memory" : "save less than this");
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

// What XLA rematerializes for want of memory comes back where donating makes room: about half, as after other changes,
// and no more than to today's total.
static bool bring_back(struct advisor *advisor, struct what_if_result *then) {
    struct what_if_change same = {.sizes = advisor_sizes(advisor), .has_room = true};
    struct what_if_result now;
    if (!same.sizes) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left to replay the program");
    if (!advisor_run(advisor, &same, &now)) return false;
    int64_t all = now.back_bytes + now.out_bytes, back = all / 2;
    int64_t most = advisor->what_if.total_bytes - then->total_bytes;
    if (back > most) back = most > 0 ? most : 0;
    then->back_bytes = back;
    then->out_bytes = all - back;
    what_if_add_temporary(then, back);
    return true;
}

static const char *why_not(const int64_t *bytes_of) {
    if (bytes_of[DONATION_COPIED_BY_LOOP])
        return "What could be donated goes through a loop that reads the old array while it writes the new one: both "
               "are needed.";
    if (bytes_of[DONATION_TURNED])
        return "What could be donated is written into copies whose dimensions lie in another order, which stay until "
               "all are copied back.";
    if (bytes_of[DONATION_OF_GRADIENT])
        return "What is returned are gradients: they are as large as the weights, which are still needed after them.";
    if (bytes_of[DONATION_IS_DONE]) return "Every input that an output could take the place of is donated already.";
    return "No output has the shape and type of an input.";
}

// On a GPU a donated array that a loop copies in any case may save another copy of it: two programs of three did.
static bool say_no_use(const struct advisor *advisor, const char *why, struct advice_item *item) {
    const double another = 0.04;
    advisor_no_use(advisor, item, why);
    if (advisor->is_for_gpu) advice_widen(item, another, 0);
    return true;
}

// No change saves much more than the bytes that it moves, however large the program around them is.
static void hold_low(int64_t without, int64_t moved, struct advice_item *item) {
    int64_t least = without - moved / BEYOND_MOVED_DIVISOR;
    if (item->low_bytes < least) item->low_bytes = least;
}

bool advise_donation(struct advisor *advisor, struct advice_item *item) {
    const struct program_roles *roles = &advisor->roles;
    int64_t bytes_of[DONATION_COUNT] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < roles->input_count; i++) {
        uint8_t donation = advisor->donations[i];
        bytes_of[donation] += input_bytes(advisor, &roles->inputs[i]);
        count += donation == DONATION_FREES;
    }
    int64_t saved = bytes_of[DONATION_FREES];
    item->how = "jax.jit(step, donate_argnums=...) with the positions of the arguments that the step returns updated; "
                "the caller must not use the old arrays afterwards.";
    if (!saved) return say_no_use(advisor, why_not(bytes_of), item);
    item->applies = true;
    advisor_say(advisor, item,
                count == 1 ? "%u input of %s has an output of the same shape and type that lies beside it."
                           : "%u inputs of %s in all have an output of the same shape and type that lies beside them.",
                count, size_string(saved, advisor->arena));
    int64_t lodging = sent_bytes(advisor, saved), sent = advisor_lodges_caches(advisor) ? 0 : lodging;
    advisor->reach.indefinite_bytes = saved;
    if (lodging > 0)
        advisor_say(advisor, item,
                    "Of these outputs' bytes the compiler uses %s for temporary arrays until the outputs "
                    "are written; those %s need room of their own.",
                    size_string(lodging, advisor->arena), sent ? "will" : "may");
    struct what_if_result then = advisor_now(advisor);
    what_if_add_temporary(&then, sent);
    then.total_bytes -= saved;
    then.peak_bytes -= saved;
    then.indefinite_bytes -= saved;
    if (!bring_back(advisor, &then)) return false;
    double below = advisor->roles.is_training ? DONATION_BELOW
                   : advisor->is_for_gpu      ? CACHES_BELOW_ON_GPU
                                              : CACHES_BELOW;
    advisor_set_totals(advisor, &then, below, donation_above(advisor), item);
    widen_donation(advisor, item);
    item->high_bytes += lodging - sent;
    only_looked_up_widen(advisor, TABLES_MOVE, item);
    hold_low(item->predicted_total_bytes - then.back_bytes, saved, item);
    return true;
}

// Once an argument is on the host a TPU's compiler lays out all of a step that has convolutions otherwise, however
// small its state: ten such steps took from a twelfth less than today to half more, a thirteenth more on average.
#define CONVOLVED_LIKELY 0.05
#define CONVOLVED_MOST 0.5

static bool is_laid_out_otherwise(const struct advisor *advisor) {
    return advisor->is_for_tpu && advisor->has_convolutions;
}

// A TPU has tables by rows when it takes rows of them, and what comes from the host as well: of such steps one saved a
// sixteenth of what moved, others took a fifteenth to a third of the total more.
static bool is_of_tables(const struct advisor *advisor) {
    return advisor->is_for_tpu && only_looked_up_find(advisor).count > 0;
}

// Of what moves, saved at most where it is fetched before anything else. Of three steps in parts that libtpu compiled
// one saved little more than half of it, and two nearly all.
#define ON_GPU_AT_MOST 0.5
#define IN_PARTS_AT_MOST 0.75

// What is on its way to the host or from it lies on the device: the compiler fetches early and sends late. On TPUs the
// update then has the gradients, all of the state as it was and as it will be, and new weights; what was at the peak
// before is gone. XLA:GPU fetches before anything else, and so does any compiler before a loop over parts of the batch.
// Half of it are outputs, and what lies in these until they are written needs room of its own.
static int64_t offloading_saves(const struct advisor *advisor, int64_t state, int64_t moved) {
    double update = 2 * ((double)advisor_trained_bytes(advisor) + (double)state);
    double beyond = update - (double)advisor->what_if.temporary_bytes;
    int64_t saved = moved - what_if_bytes(beyond > 0 ? beyond : 0) - sent_bytes(advisor, moved - state);
    bool is_fetched_first = advisor->is_for_gpu || advisor_is_accumulating(advisor);
    double most = (advisor->is_for_gpu ? ON_GPU_AT_MOST : IN_PARTS_AT_MOST) * (double)moved;
    if (is_fetched_first && (double)saved > most) saved = what_if_bytes(most);
    return saved > 0 && !is_of_tables(advisor) && !is_laid_out_otherwise(advisor) ? saved : 0;
}

// What it may take more than today: on a TPU one took a sixteenth more.
static int64_t offloading_costs(const struct advisor *advisor) {
    const double of_tables = 0.4, usually = 1.0 / 16;
    double part = is_laid_out_otherwise(advisor) ? CONVOLVED_MOST
                  : is_of_tables(advisor)        ? of_tables
                  : advisor->is_for_tpu          ? usually
                                                 : 0;
    return what_if_bytes(part * (double)advisor->what_if.total_bytes);
}

static void say_fetched(const struct advisor *advisor, int64_t saved, int64_t moved, struct advice_item *item) {
    if (is_laid_out_otherwise(advisor)) {
        advisor_say(advisor, item,
                    "With convolutions the compiler lays out the whole step otherwise once an argument is on the host: "
                    "compiled steps took from all that moves less than today to half more, and a twentieth more is "
                    "told.");
        return;
    }
    advisor_say(advisor, item,
                "While they are fetched and until they are sent they lie on the device: of the %s that move, %s are "
                "expected to be saved, and anything from none to all is possible%s.",
                size_string(moved, advisor->arena), size_string(saved, advisor->arena),
                is_of_tables(advisor) ? "; tables that come from there may be copied by rows, for up to two fifths of "
                                        "the program more"
                                      : "");
}

// From all of it to none: compiled programs that look alike were that far from each other.
static void set_offloaded(struct advisor *advisor, int64_t saved, int64_t moved, struct advice_item *item) {
    struct what_if_result then = advisor_now(advisor);
    int64_t most = advisor->what_if.total_bytes;
    advisor->offloaded_part = (double)saved / (double)moved;
    then.total_bytes -= saved;
    then.peak_bytes -= saved;
    then.indefinite_bytes -= moved;
    then.temporary_bytes += moved - saved;
    if (is_laid_out_otherwise(advisor)) what_if_add_temporary(&then, what_if_bytes(CONVOLVED_LIKELY * (double)most));
    advisor_set_totals(advisor, &then, 0.02, 0.02, item);
    item->low_bytes -= moved - saved + then.total_bytes - (most - saved);
    hold_low(most - moved, moved, item);
    item->high_bytes = most + offloading_costs(advisor);
    advisor->reach.added_bytes = offloading_costs(advisor);
    say_fetched(advisor, saved, moved, item);
}

// A fiftieth of the program, or less. Three such steps were compiled with it on the host: to a sixth more than today's
// at most, as the compiler lays out the rest otherwise.
static bool is_little(const struct advisor *advisor, int64_t moved) {
    enum { LITTLE_DIVISOR = 50 };
    return advisor->is_for_tpu && !advisor->has_convolutions && moved < advisor->what_if.total_bytes / LITTLE_DIVISOR;
}

static bool say_little(const struct advisor *advisor, struct advice_item *item) {
    advisor_no_use(advisor, item,
                   "The optimizer's state is next to nothing of this program, and with an argument on the host the "
                   "compiler may lay out the rest otherwise, for more than that.");
    advice_widen(item, 0.02, 0.16);
    return true;
}

bool advise_offload_optimizer(struct advisor *advisor, struct advice_item *item) {
    const struct program_roles *roles = &advisor->roles;
    int64_t state = 0, moved = 0;
    uint32_t count = 0;
    item->how =
        "Keep the optimizer's state with memory_kind=\"pinned_host\" in its NamedSharding, and jax.device_put it to "
        "device memory in the step, one array at a time; each step then moves it over PCIe.";
    for (uint32_t i = 0; i < roles->input_count; i++) {
        const struct entry_input *input = &roles->inputs[i];
        if (!input->is_state || advisor_is_weight(advisor, i)) continue;
        state += input_bytes(advisor, input);
        moved += input_bytes(advisor, input) * (input->is_donated ? 1 : 2);
        count++;
    }
    if (!moved) return advisor_no_use(advisor, item, "No state was found that only the optimizer reads.");
    if (is_little(advisor, moved)) return say_little(advisor, item);
    advisor->reach.indefinite_bytes = moved;
    item->applies = true;
    advisor_say(advisor, item,
                count == 1 ? "%u input is updated but not read by the forward pass; with its output it holds %s."
                           : "%u inputs are updated but not read by the forward pass; with their outputs they hold %s.",
                count, size_string(moved, advisor->arena));
    set_offloaded(advisor, offloading_saves(advisor, state, moved), moved, item);
    return true;
}
