#include "analysis/advice/row_copies.h"

#include "analysis/advice/only_looked_up.h"

enum { LANES = 128, FEW_COLUMNS = 32 };

#define MADE_UP_TO_BYTES ((double)(768 << 20))

static double bytes_by_rows(const struct array_shape *table, int64_t ways, int bits) {
    return (double)table->dimensions[0] / (double)ways * LANES * bits / 8;
}

static bool lies_by_columns(const struct array_shape *table) {
    return table->rank == 2 && table->minor_to_major[0] == 0 && table->dimensions[1] <= FEW_COLUMNS;
}

struct begun {
    double largest, all;
    double largest_before;  // of those that are made as it is
    int largest_count;      // inputs of that size: the table, and its state
};

static void add_input(const struct array_shape *table, int64_t ways, int bits, struct begun *begun) {
    double before = bytes_by_rows(table, 1, table->element_bits), then = bytes_by_rows(table, ways, bits);
    bool is_before = before <= MADE_UP_TO_BYTES;
    if (is_before && before > begun->largest_before) begun->largest_before = before;
    if (is_before || then > MADE_UP_TO_BYTES) return;
    begun->all += then;
    begun->largest_count = then > begun->largest ? 1 : begun->largest_count + (then >= begun->largest);
    if (then > begun->largest) begun->largest = then;
}

int64_t row_copies_begun(const struct advisor *advisor, int64_t ways, int bits) {
    const struct shape_set tables = only_looked_up_find(advisor);
    struct begun begun = {0};
    for (uint32_t i = 0; i < advisor->roles.input_count && tables.count && advisor->is_for_tpu; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
        if (shape && shape_set_has(&tables, shape) && lies_by_columns(shape)) add_input(shape, ways, bits, &begun);
    }
    double beside = begun.largest - begun.largest_before;
    if (ways > 1) return what_if_bytes(begun.all + begun.largest);
    return beside > 0 ? what_if_bytes((begun.largest_count + 1) * beside) : 0;
}
