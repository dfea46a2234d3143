#include "analysis/advice/dimension_tie_list.h"

static void add(struct dimension_tie_list *list, struct dimension_tie tie) {
    if (list->count < TIE_LIST_MAX) list->at[list->count++] = tie;
}

void dimension_tie_list_add(struct dimension_tie_list *list, uint32_t leaf_a, int a, uint32_t leaf_b, int b) {
    add(list, (struct dimension_tie){.leaf_a = leaf_a, .a = a, .leaf_b = leaf_b, .b = b});
}

void dimension_tie_list_add_summed(struct dimension_tie_list *list, uint32_t leaf_a, int a, uint32_t leaf_b, int b) {
    add(list, (struct dimension_tie){.leaf_a = leaf_a, .a = a, .leaf_b = leaf_b, .b = b, .is_summed = true});
}

static double marked_elements(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return flow_is_marked(flow, leaf, dimension) ? (double)array_shape_elements(flow_leaf(flow, leaf)) : 0;
}

static void weigh(const struct dimension_flow *flow, struct dimension_tie *tie) {
    double a = marked_elements(flow, tie->leaf_a, tie->a), b = marked_elements(flow, tie->leaf_b, tie->b);
    tie->marked = a > b ? a : b;
}

// The first of the heaviest that are left: lists are a few long.
static struct dimension_tie take_heaviest(struct dimension_tie_list *list) {
    int heaviest = 0;
    for (int i = 1; i < list->count; i++) {
        if (list->at[i].marked > list->at[heaviest].marked) heaviest = i;
    }
    struct dimension_tie taken = list->at[heaviest];
    list->count--;
    for (int i = heaviest; i < list->count; i++) list->at[i] = list->at[i + 1];
    return taken;
}

void dimension_tie_list_apply(struct dimension_flow *flow, struct dimension_tie_list *list) {
    for (int i = 0; i < list->count; i++) weigh(flow, &list->at[i]);
    while (list->count) {
        struct dimension_tie tie = take_heaviest(list);
        if (!tie.is_summed || flow->level >= FLOW_SUMMED) dimension_tie(flow, tie.leaf_a, tie.a, tie.leaf_b, tie.b);
    }
}
