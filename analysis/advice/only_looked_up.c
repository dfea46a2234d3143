#include "analysis/advice/only_looked_up.h"

#include "analysis/advice/looked_up.h"
#include "analysis/advice/weight_products.h"
#include "analysis/hlo/element_type.h"

static struct shape_set find_multiplied(const struct advisor *advisor) {
    struct shape_set found = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (weight_product_read(advisor, i, &product) && product.weight != HLO_NONE)
            shape_set_add(&found, &advisor->graph.leaves[product.weight]);
    }
    return found;
}

static struct shape_set find_trained(const struct advisor *advisor) {
    struct shape_set found = {.count = 0};
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        const struct array_shape *shape = input->leaf == HLO_NONE ? NULL : &advisor->graph.leaves[input->leaf];
        if (shape && input->is_state && shape->rank == 2 && shape->element_type == ELEMENT_TYPE_F32)
            shape_set_add(&found, shape);
    }
    return found;
}

static struct shape_set find_tables(const struct advisor *advisor) {
    struct shape_set trained = find_trained(advisor), multiplied = find_multiplied(advisor), found = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        uint32_t leaf = looked_up_table(advisor, i);
        const struct array_shape *table = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
        if (table && !advisor->batch.marks[leaf] && shape_set_has(&trained, table) &&
            !shape_set_has(&multiplied, table))
            shape_set_add(&found, table);
    }
    return found;
}

// Are these most of what is trained, as tables of words seldom are?
static bool are_most(const struct advisor *advisor, const struct shape_set *tables) {
    double theirs = 0, all = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        if (input->leaf == HLO_NONE || !input->is_state) continue;
        const struct array_shape *shape = &advisor->graph.leaves[input->leaf];
        double bytes = (double)array_shape_bytes(shape);
        all += bytes;
        theirs += shape_set_has(tables, shape) ? bytes : 0;
    }
    return theirs > all / 2;
}

struct shape_set only_looked_up_find(const struct advisor *advisor) {
    struct shape_set tables = find_tables(advisor);
    if (!are_most(advisor, &tables)) tables.count = 0;
    return tables;
}

static double copied_bytes_at_peak(const struct advisor *advisor, const struct shape_set *tables) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double bytes = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t buffer = replay->live_at_peak[i], leaf = advisor_leaf(advisor, buffer);
        if (leaf != HLO_NONE && shape_set_has(tables, &advisor->graph.leaves[leaf]))
            bytes += (double)advisor->module->buffers[buffer].size_bytes;
    }
    return bytes;
}

void only_looked_up_widen(const struct advisor *advisor, double may_move, struct advice_item *item) {
    const struct shape_set tables = only_looked_up_find(advisor);
    if (!advisor->is_for_tpu || !tables.count || advisor->what_if.total_bytes <= 0) return;
    double part = may_move * copied_bytes_at_peak(advisor, &tables) / (double)advisor->what_if.total_bytes;
    advice_widen(item, part, part);
}
