// Half the sequence: what follows it is half as large, and a quarter where it stands twice, as in attention's scores.
#include "analysis/advice/advisor.h"
#include "analysis/advice/data_kind.h"
#include "analysis/advice/few_pictures.h"
#include "analysis/advice/only_looked_up.h"
#include "analysis/advice/sequence.h"
#include "analysis/hlo/element_type.h"

// At the peak, what follows the batch but not the sequence, or neither of them nor the weights, may be of it yet.
static struct advice_doubt doubt_of_sequence(const struct advisor *advisor, const struct sequence *sequence) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    struct advice_doubt doubt = {.population_bytes = advisor->at_peak.other,
                                 .may_go_bytes = advisor->at_peak.other,
                                 .part = 0.5,
                                 .help = "The sequence does not reach it: compile the step with sequences of half the "
                                         "length to know."};
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, replay->live_at_peak[i]);
        double bytes = (double)advisor->module->buffers[replay->live_at_peak[i]].size_bytes;
        if (leaf == HLO_NONE || !(advisor->batch.marks[leaf] || sequence->flow.marks[leaf])) continue;
        doubt.population_bytes += bytes;
        if (!sequence->flow.marks[leaf]) doubt.may_go_bytes += bytes;
    }
    return doubt;
}

enum { BITS_OF_MASKS_AND_PICTURES = 8 };

// Of letters [examples, sequences, places] as many as long, either dimension may be meant. Masks are square as well.
static bool is_as_long_twice(const struct advisor *advisor, uint32_t input, int64_t length) {
    uint32_t leaf = advisor->roles.inputs[input].leaf;
    const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
    if (!shape || !advisor->batch.marks[leaf] || advisor->roles.inputs[input].is_state) return false;
    bool are_letters = shape->element_type < ELEMENT_TYPE_F16 && shape->element_bits > BITS_OF_MASKS_AND_PICTURES;
    if (!are_letters) return false;
    int times = 0;
    for (int d = 0; d < shape->rank; d++)
        times += shape->dimensions[d] == length && !(advisor->batch.marks[leaf] >> d & 1);
    return times > 1;
}

static void doubt_equal_lengths(struct advisor *advisor, int64_t length) {
    bool is_any = false;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) is_any |= is_as_long_twice(advisor, i, length);
    if (!is_any) return;
    advisor->doubt.may_go_bytes = advisor->doubt.population_bytes;
    advisor->doubt.help =
        "Two dimensions of the data are as long, and which of them is the sequence nothing here tells: "
        "compile the step with half of it, or with data in which they differ.";
}

static void doubt_none(struct advisor *advisor, const char *help) {
    advisor->doubt.population_bytes = advisor->doubt.may_go_bytes = (double)advisor->what_if.total_bytes;
    advisor->doubt.help = help;
}

// Tokens have a sequence: where none is found, another dimension of its size hides it. Numbers of a recommendation's
// features are none.
static bool has_hidden(const struct advisor *advisor) {
    return data_kind_of(advisor).has_tokens && !only_looked_up_find(advisor).count;
}

// Is there much that could grow with what is cut? What weighs rows of tables is no sequence either.
static bool is_of_data(const struct advisor *advisor) {
    const double much = 0.25;
    bool is_much = advisor->at_peak.batch > much * (double)advisor->what_if.total_bytes;
    return is_much && !only_looked_up_find(advisor).count;
}

// Films, [examples, frames, height, width, colours], or volumes, which have none.
static bool may_have_frames(const struct advisor *advisor) {
    enum { FILM_RANK = 5 };
    for (uint32_t i = 0; i < advisor->roles.input_count && advisor->has_convolutions; i++) {
        const struct entry_input *in = &advisor->roles.inputs[i];
        if (in->leaf == HLO_NONE || in->is_state || !advisor->batch.marks[in->leaf]) continue;
        if (advisor->graph.leaves[in->leaf].rank >= FILM_RANK) return true;
    }
    return false;
}

// Are the largest data of numbers [examples, frames, bands]? Convolutions make patches of a spectrogram.
static bool may_be_spectra(const struct advisor *advisor) {
    enum { SPECTRA_RANK = 3 };
    int64_t largest = 0;
    bool is_any = false;
    for (uint32_t i = 0; i < advisor->roles.input_count && advisor->has_convolutions; i++) {
        const struct entry_input *in = &advisor->roles.inputs[i];
        if (in->leaf == HLO_NONE || in->is_state || !advisor->batch.marks[in->leaf]) continue;
        const struct array_shape *shape = &advisor->graph.leaves[in->leaf];
        if (array_shape_bytes(shape) <= largest) continue;
        largest = array_shape_bytes(shape);
        is_any = shape->rank == SPECTRA_RANK && shape->element_bits > BITS_OF_MASKS_AND_PICTURES &&
                 shape->element_type >= ELEMENT_TYPE_F16;
    }
    return is_any;
}

static bool say_none(struct advisor *advisor, bool is_cut, struct advice_item *item) {
    if (is_cut && is_of_data(advisor))
        doubt_none(advisor, "Compile the step with sequences of half the length to know: pieces are taken of data, as "
                            "patches of a series are, and how many there are is not followed.");
    if (!advisor->request.sequence && may_have_frames(advisor))
        doubt_none(advisor, "Compile the step with half of the frames to know: data of five dimensions, as films and "
                            "volumes are, meet convolutions, and nothing here tells whether one of them is frames.");
    if (!advisor->request.sequence && may_be_spectra(advisor))
        doubt_none(advisor,
                   "Compile the step with half of the frames to know: data of three dimensions, as spectrograms "
                   "are, meet convolutions, and how many patches or frames are left after these is not "
                   "followed.");
    if (!advisor->request.sequence && largest_wave_elements(advisor) > 0)
        doubt_none(advisor,
                   "Compile the step with half of the samples to know: data are convolved along one dimension, "
                   "as waves are, and how long they are after each convolution is not followed.");
    if (!advisor->request.sequence && has_hidden(advisor))
        doubt_none(advisor, "Compile the step with sequences of half the length to know: the data are tokens, but no "
                            "dimension of theirs was found that much of the program grows with and its weights do "
                            "not.");
    if (!advisor->request.sequence)
        return advisor_no_use(advisor, item,
                              "No dimension of the data is a sequence that much of the program grows with; give its "
                              "length with --sequence=N.");
    const char *why = arena_printf(advisor->arena, "No input of data has %lld, the sequence given, as a dimension.",
                                   (long long)advisor->request.sequence);
    return advisor_no_use(advisor, item, why ? why : "");
}

bool advise_sequence(struct advisor *advisor, struct advice_item *item) {
    struct sequence sequence;
    struct what_if_result result;
    item->how = "Cut examples to half the length, or split long ones in two; what attends to all of an example then "
                "sees half of it.";
    const struct sequence_request request = {advisor->request.sequence, !advisor->has_convolutions};
    if (!sequence_find(&advisor->graph, &advisor->roles, &advisor->batch, &request, advisor->arena, &sequence))
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left to follow the program's dimensions");
    if (!sequence.length) return say_none(advisor, sequence.is_cut, item);
    advisor->sequence = sequence.length;
    advisor->doubt = doubt_of_sequence(advisor, &sequence);
    doubt_equal_lengths(advisor, sequence.length);
    if (!advisor_halve(advisor, &sequence.flow, &result)) return false;
    item->applies = item->changes_numerics = true;
    advisor_say(advisor, item, "The sequence is %lld%s, dimension %d of an input%s%s.", (long long)sequence.length,
                sequence.is_told ? ", as given" : "", sequence.dimension,
                sequence.is_stepped ? ": a loop takes one of it at a time" : "",
                sequence_stands_twice(&sequence.flow)
                    ? "; where it stands twice, as in attention's scores, a quarter is left"
                    : "");
    if (sequence.beside_count)
        advisor_say(advisor, item,
                    sequence.beside_count == 1
                        ? "Another input's sequence, of %lld, attends to itself as well, and is halved with it."
                        : "Sequences of other inputs, of %lld and more, attend to themselves as well, and are halved "
                          "with it.",
                    (long long)sequence.beside);
    if (sequence.reached)
        advisor_say(advisor, item,
                    sequence.reached == 1 ? "%lld weight grows with it, as a table of positions does, and halves too."
                                          : "%lld weights grow with it, as a table of positions does, and halve too.",
                    (long long)sequence.reached);
    advisor_set_totals(advisor, &result, 0.03, 0.03, item);
    advice_widen_narrowly(item, 0.054, 0.049);
    return true;
}
