#include "analysis/device_memory/device_memory_tree.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"

struct builder {
    const struct device_memory_profile *profile;
    enum device_memory_frames frames;
    struct arena *arena;
    struct device_memory_tree *tree;
    struct error *error;
    struct id_map child_of;  // by parent and frame
    struct id_map part_of;   // by node and group
    uint32_t most_nodes, most_parts;
    uint32_t *last_sample;  // by function: the sample that counted it last, plus one
};

static bool out_of_memory(const struct builder *b) {
    return error_set(b->error, ERROR_TOO_BIG,
                     "there is not enough memory for the stacks of this device memory profile");
}

// False, in plain sight of who calls it.
static bool too_many(const struct builder *b, const char *what) {
    error_set(b->error, ERROR_TOO_BIG, "the stacks of this device memory profile have too many %s", what);
    return false;
}

// Sums of parts of the profile's totals, which fit.
static void add_total(struct device_memory_figures *figures, const struct device_memory_sample *sample) {
    figures->total_bytes += sample->bytes;
    figures->total_count += sample->count;
}

static void add_self(struct device_memory_figures *figures, const struct device_memory_sample *sample) {
    figures->self_bytes += sample->bytes;
    figures->self_count += sample->count;
}

// --- Which frames of a stack count ---

static bool is_library(const struct device_memory_profile *profile, uint32_t frame) {
    return profile->functions[profile->frames[frame].function].is_library;
}

static bool has_own_frame(const struct device_memory_profile *profile, const struct device_memory_sample *sample) {
    for (uint32_t i = 0; i < sample->depth; i++) {
        if (!is_library(profile, profile->stacks[sample->first + i])) return true;
    }
    return false;
}

// --- Nodes and their parts ---

static bool find_child(struct builder *b, uint32_t parent, uint32_t frame, uint32_t *child) {
    struct device_memory_tree *tree = b->tree;
    *child = id_map_get(&b->child_of, id_map_pair(parent, frame));
    if (*child != ID_MAP_NONE) return true;
    if (tree->node_count == b->most_nodes) return too_many(b, "different places");
    *child = tree->node_count++;
    tree->nodes[*child] = (struct device_memory_node){.parent = parent, .frame = frame};
    return id_map_put(&b->child_of, id_map_pair(parent, frame), *child);
}

static bool find_part(struct builder *b, uint32_t node, uint32_t group, struct device_memory_part **part) {
    struct device_memory_tree *tree = b->tree;
    uint32_t index = id_map_get(&b->part_of, id_map_pair(node, group));
    if (index == ID_MAP_NONE) {
        if (tree->part_count == b->most_parts) return too_many(b, "places on different devices");
        index = tree->part_count++;
        tree->parts[index] = (struct device_memory_part){.node = node, .group = group};
        (void)id_map_put(&b->part_of, id_map_pair(node, group), index);
    }
    *part = &tree->parts[index];
    return true;
}

// To the node and to its part of the sample's group: add_total for a node that is passed, add_self where a stack ends.
static bool add_to_node(struct builder *b, uint32_t node, const struct device_memory_sample *sample,
                        void (*add)(struct device_memory_figures *, const struct device_memory_sample *)) {
    struct device_memory_part *part;
    if (!find_part(b, node, sample->group, &part)) return false;
    add(&b->tree->nodes[node].figures, sample);
    add(&part->figures, sample);
    return true;
}

static void pass_function(struct builder *b, uint32_t frame, uint32_t number) {
    uint32_t function = b->profile->frames[frame].function;
    if (b->last_sample[function] == number + 1) return;
    b->last_sample[function] = number + 1;
    add_total(&b->tree->top[function].figures, &b->profile->samples[number]);
}

static bool add_sample(struct builder *b, uint32_t number) {
    const struct device_memory_profile *profile = b->profile;
    const struct device_memory_sample *sample = &profile->samples[number];
    bool skips = b->frames == DEVICE_MEMORY_OWN_FRAMES && has_own_frame(profile, sample);
    uint32_t node = 0, last = DEVICE_MEMORY_NONE;
    if (!add_to_node(b, node, sample, add_total)) return false;
    for (uint32_t i = 0; i < sample->depth; i++) {
        uint32_t frame = profile->stacks[sample->first + i];
        if (skips && is_library(profile, frame)) continue;
        if (!find_child(b, node, frame, &node) || !add_to_node(b, node, sample, add_total)) return false;
        pass_function(b, frame, number);
        last = frame;
    }
    if (last != DEVICE_MEMORY_NONE) add_self(&b->tree->top[profile->frames[last].function].figures, sample);
    return add_to_node(b, node, sample, add_self);
}

// --- Order ---

static int compare_figures(int64_t left, int64_t right) {
    return (left < right) - (left > right);  // the larger first
}

struct sibling {
    struct device_memory_node node;
    uint32_t index;  // before ordering
};

// Children side by side, the largest first; of equal ones the more, then the one that was seen first.
static int by_parent_size(const void *left, const void *right) {
    const struct sibling *a = left, *b = right;
    if (a->node.parent != b->node.parent) return a->node.parent < b->node.parent ? -1 : 1;
    int order = compare_figures(a->node.figures.total_bytes, b->node.figures.total_bytes);
    if (!order) order = compare_figures(a->node.figures.total_count, b->node.figures.total_count);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_node_group(const void *left, const void *right) {
    const struct device_memory_part *a = left, *b = right;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static int by_self_total(const void *left, const void *right) {
    const struct device_memory_top *a = left, *b = right;
    int order = compare_figures(a->figures.self_bytes, b->figures.self_bytes);
    if (!order) order = compare_figures(a->figures.total_bytes, b->figures.total_bytes);
    if (!order) order = compare_figures(a->figures.total_count, b->figures.total_count);
    return order ? order : (a->function > b->function) - (a->function < b->function);
}

struct ordering {
    struct sibling *siblings;  // all but the root, by parent
    uint32_t *first_child;     // by node, before ordering: in siblings; one more at the end
    uint32_t *place_of;        // by node, before ordering: where it goes
    uint32_t *waiting;         // siblings still to be placed, the next one last
};

static bool prepare_ordering(const struct builder *b, struct ordering *ordering) {
    uint32_t count = b->tree->node_count;
    ordering->siblings = arena_push_raw(b->arena, count, sizeof *ordering->siblings);
    ordering->first_child = arena_new(b->arena, uint32_t, (size_t)count + 1);
    ordering->place_of = arena_new(b->arena, uint32_t, count);
    ordering->waiting = arena_push_raw(b->arena, count, sizeof *ordering->waiting);
    if (!ordering->siblings || !ordering->first_child || !ordering->place_of || !ordering->waiting)
        return out_of_memory(b);
    for (uint32_t i = 1; i < count; i++) {
        ordering->siblings[i - 1] = (struct sibling){b->tree->nodes[i], i};
        ordering->first_child[b->tree->nodes[i].parent + 1]++;
    }
    for (uint32_t i = 0; i < count; i++) ordering->first_child[i + 1] += ordering->first_child[i];
    if (count > 1) qsort(ordering->siblings, count - 1, sizeof *ordering->siblings, by_parent_size);
    return true;
}

// The children of a node, to be placed in their order.
static uint32_t push_children(const struct ordering *ordering, uint32_t node, uint32_t waiting_count) {
    uint32_t first = ordering->first_child[node];
    for (uint32_t i = ordering->first_child[node + 1]; i > first; i--) ordering->waiting[waiting_count++] = i - 1;
    return waiting_count;
}

static bool order_nodes(const struct builder *b) {
    struct device_memory_tree *tree = b->tree;
    struct ordering ordering;
    if (!prepare_ordering(b, &ordering)) return false;
    uint32_t placed = 1, waiting_count = push_children(&ordering, 0, 0);
    while (waiting_count > 0) {
        const struct sibling *sibling = &ordering.siblings[ordering.waiting[--waiting_count]];
        ordering.place_of[sibling->index] = placed;
        tree->nodes[placed] = sibling->node;
        tree->nodes[placed++].parent = ordering.place_of[sibling->node.parent];
        waiting_count = push_children(&ordering, sibling->index, waiting_count);
    }
    for (uint32_t i = 0; i < tree->part_count; i++) tree->parts[i].node = ordering.place_of[tree->parts[i].node];
    if (tree->part_count) qsort(tree->parts, tree->part_count, sizeof *tree->parts, by_node_group);
    return true;
}

// Functions on some stack only.
static void order_top(struct device_memory_tree *tree, const uint32_t *last_sample, uint32_t function_count) {
    for (uint32_t i = 0; i < function_count; i++) {
        tree->top[i].function = i;
        if (last_sample[i]) tree->top[tree->top_count++] = tree->top[i];
    }
    if (tree->top_count) qsort(tree->top, tree->top_count, sizeof *tree->top, by_self_total);
}

// --- The whole ---

static uint32_t at_most(uint64_t count, uint32_t most) {
    return count < most ? (uint32_t)count : most;
}

static bool make_tables(struct builder *b) {
    const struct device_memory_profile *profile = b->profile;
    struct device_memory_tree *tree = b->tree;
    uint64_t entries = (uint64_t)profile->stack_entry_count + 1;
    b->most_nodes = at_most(entries, DEVICE_MEMORY_MAX_NODES);
    b->most_parts = at_most(entries + profile->sample_count, DEVICE_MEMORY_MAX_PARTS);
    tree->nodes = arena_push_raw(b->arena, b->most_nodes, sizeof *tree->nodes);
    tree->parts = arena_push_raw(b->arena, b->most_parts, sizeof *tree->parts);
    tree->top = arena_new(b->arena, struct device_memory_top, profile->function_count);
    b->last_sample = arena_new(b->arena, uint32_t, profile->function_count);
    if (!tree->nodes || !tree->parts || !tree->top || !b->last_sample) return out_of_memory(b);
    tree->nodes[0] = (struct device_memory_node){.parent = DEVICE_MEMORY_NONE, .frame = DEVICE_MEMORY_NONE};
    tree->node_count = 1;
    return (id_map_init(&b->child_of, b->arena, b->most_nodes) && id_map_init(&b->part_of, b->arena, b->most_parts)) ||
           out_of_memory(b);
}

bool device_memory_tree_build(const struct device_memory_profile *profile, enum device_memory_frames frames,
                              struct arena *arena, struct device_memory_tree *tree, struct error *error) {
    struct builder b = {.profile = profile, .frames = frames, .arena = arena, .tree = tree, .error = error};
    *tree = (struct device_memory_tree){0};
    if (!make_tables(&b)) return false;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (!add_sample(&b, i)) return false;
    }
    order_top(tree, b.last_sample, profile->function_count);
    return order_nodes(&b);
}
