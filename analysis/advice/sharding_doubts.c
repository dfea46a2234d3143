#include "analysis/advice/sharding_doubts.h"

#include "analysis/advice/joined.h"
#include "analysis/advice/looked_up.h"
#include "analysis/advice/row_copies.h"
#include "analysis/advice/weight_products.h"
#include "analysis/program/library_call.h"
#include "analysis/program/op_name.h"

static bool is_much(const struct sharded *sharded, int64_t bytes) {
    enum { MUCH_DIVISOR = 8 };
    return bytes > sharded->then.total_bytes / MUCH_DIVISOR;
}

static void doubt_all(struct advisor *advisor, const char *help) {
    advisor->doubt.may_stay_bytes = advisor->doubt.population_bytes;
    advisor->doubt.help = help;
}

// With the batch whole, the chips may lay out the rows by another dimension than the features that they share, and pad
// that to the lanes: 24 drawn rows for each place to 128.
static void doubt_looked_up(struct advisor *advisor, const struct sharded *sharded) {
    if (sharded->is_batch_split || !is_much(sharded, looked_up_most_bytes(advisor, sharded->looked_up))) return;
    doubt_all(
        advisor,
        "Compile it sharded: the rows that chips look up for each other are much of this program, and may be padded "
        "several times.");
}

// Numbers that a fusion computed as it looked up are arrays where chips share the table: the backward pass needs them.
static void doubt_looked_up_numbers(struct advisor *advisor, const struct sharded *sharded) {
    if (sharded->is_batch_split || !is_much(sharded, looked_up_numbers_bytes(advisor, &sharded->split))) return;
    doubt_all(advisor, "Compile it sharded: so many rows are looked up in tables that the chips share that their "
                       "numbers alone are much of this program.");
}

static void doubt_row_copies(struct advisor *advisor, const struct sharded *sharded) {
    enum { F32_BITS = 32 };
    if (!is_much(sharded, row_copies_begun(advisor, advisor->request.ways, F32_BITS))) return;
    doubt_all(advisor, "Compile it sharded: a chip's part of a table with so few columns is small enough to be copied "
                       "by rows, each padded to 128 columns.");
}

// Each table's gradient takes rows of all examples: XLA:GPU begins to gather those of many tables together.
static void doubt_looked_up_rows(struct advisor *advisor, const struct sharded *sharded) {
    if (!advisor->roles.is_training || !is_much(sharded, looked_up_rows_bytes(advisor, &sharded->split))) return;
    doubt_all(advisor, "Compile it sharded: the rows that are looked up in tables which the chips share are much of "
                       "this program, and their gradients may be gathered whole, all at once.");
}

// The partitioner has ways of its own with Fourier transforms, and gathers or transposes what they take.
static void doubt_transforms(struct advisor *advisor) {
    bool has_transforms = false;
    for (uint32_t i = 0; i < advisor->graph.node_count && !has_transforms; i++)
        has_transforms = bytes_equal(op_name_primitive(advisor->graph.nodes[i].op_name), BYTES("fft"));
    if (!has_transforms) return;
    doubt_all(advisor, "Compile it sharded: how chips share the Fourier transforms of this program is not followed.");
}

bool sharding_joins_much(const struct advisor *advisor, const struct sharded *sharded) {
    enum { MUCH_DIVISOR = 10 };
    int64_t bytes = joined_most_bytes(&advisor->graph, &sharded->split.flow);
    return !sharded->is_batch_split && bytes > sharded->then.total_bytes / MUCH_DIVISOR;
}

// Chips of a TPU may have all pieces at once; of eight such programs for a GPU one had.
static void doubt_joined(struct advisor *advisor, const struct sharded *sharded) {
    if (advisor->is_for_gpu || !sharding_joins_much(advisor, sharded)) return;
    doubt_all(advisor, "Compile it sharded: large arrays are joined, or taken apart, along what the chips share, and "
                       "their pieces wait for each other.");
}

// What a GPU's convolutions of five dimensions make, of pictures in time or of volumes.
static int64_t volumes_bytes(const struct advisor *advisor) {
    enum { VOLUMES_RANK = 5 };
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (library_call_of(node) != LIBRARY_CONVOLUTION || !node->leaf_count) continue;
        const struct array_shape *made = &advisor->graph.leaves[node->first_leaf];
        if (array_is(made) && made->rank >= VOLUMES_RANK) bytes += (double)array_shape_bytes(made);
    }
    return what_if_bytes(bytes);
}

// Kernels of three dimensions in space are split by what they take where the chips divide none of these: then each chip
// makes all of the output, and sums it.
static void doubt_volumes(struct advisor *advisor, const struct sharded *sharded) {
    if (sharded->is_batch_split || !advisor->roles.is_training || !is_much(sharded, volumes_bytes(advisor))) return;
    doubt_all(advisor, "Compile it sharded: kernels of volumes, or of pictures in time, are split by the features that "
                       "they take, and what chips make of these stays whole until it is summed.");
}

// Do a loop's products take what is split along the batch?
static bool is_batch_in_loops(const struct advisor *advisor, const struct sharding_split *split) {
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || !product.is_in_loop) continue;
        if (dimension_flow_shared(&split->flow, &advisor->batch, product.activation)) return true;
    }
    return false;
}

// What is looked up in columns a loop over time hands on so, from turn to turn, and the batch stays whole: where
// batch and columns meet in it, either may win.
static void doubt_columns_over_time(struct advisor *advisor, const struct sharded *sharded) {
    const struct sharding_split *split = &sharded->split;
    if (!sharded->is_batch_split || !advisor->roles.is_training || !advisor_is_over_time(advisor)) return;
    if (!looked_up_in_columns(advisor, split) || !is_batch_in_loops(advisor, split)) return;
    doubt_all(advisor, "A table whose rows the chips do not divide is split by columns, and a loop over time may "
                       "keep that split: then each chip holds the whole batch. Pad the table's rows to a multiple of "
                       "the chips, or compile it sharded to know.");
}

void sharding_doubts_find(struct advisor *advisor, const struct sharded *sharded) {
    doubt_looked_up(advisor, sharded);
    doubt_looked_up_rows(advisor, sharded);
    doubt_looked_up_numbers(advisor, sharded);
    doubt_row_copies(advisor, sharded);
    doubt_joined(advisor, sharded);
    doubt_transforms(advisor);
    doubt_volumes(advisor, sharded);
    doubt_columns_over_time(advisor, sharded);
}
