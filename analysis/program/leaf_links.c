#include "analysis/program/leaf_links.h"

enum { CALLED_MAX = 16 };  // branches of one conditional

struct visitor {
    const struct program_graph *graph;
    leaf_link *link;
    void *context;
};

struct leaf_range {
    uint32_t first, count;
};

static struct leaf_range leaves_of(const struct visitor *v, uint32_t node) {
    if (node == HLO_NONE) return (struct leaf_range){0};
    return (struct leaf_range){v->graph->nodes[node].first_leaf, v->graph->nodes[node].leaf_count};
}

// As many as both have.
static void link(const struct visitor *v, struct leaf_range from, struct leaf_range to) {
    uint32_t count = from.count < to.count ? from.count : to.count;
    if (count) v->link(v->context, from.first, to.first, count);
}

static struct leaf_range rest_of(struct leaf_range range, uint32_t first) {
    return (struct leaf_range){first, range.first + range.count - first};
}

// Operands one after the other are the first leaves of the node; returns how many those are.
static uint32_t link_operands(const struct visitor *v, uint32_t index) {
    const struct graph_node *node = &v->graph->nodes[index];
    struct leaf_range all = leaves_of(v, index);
    uint32_t at = 0;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        struct leaf_range from = leaves_of(v, graph_operand(v->graph, node, i));
        if (from.count > all.count - at) break;
        link(v, from, rest_of(all, all.first + at));
        at += from.count;
    }
    return at;
}

static void link_element(const struct visitor *v, uint32_t index) {
    const struct graph_node *node = &v->graph->nodes[index];
    uint32_t operand = graph_operand(v->graph, node, 0);
    if (operand == HLO_NONE) return;
    const struct graph_node *from = &v->graph->nodes[operand];
    if (node->number < 0 || node->number >= from->elements.count) return;
    uint32_t first = v->graph->elements[from->elements.first + (uint32_t)node->number].leaf;
    link(v, rest_of(leaves_of(v, operand), first), leaves_of(v, index));
}

static uint32_t called(const struct visitor *v, const struct graph_node *node, uint32_t i) {
    uint32_t computation = i < node->called_count ? v->graph->called[node->first_called + i] : HLO_NONE;
    return computation < v->graph->computation_count ? computation : HLO_NONE;
}

static void link_call(const struct visitor *v, uint32_t index, struct leaf_range result) {
    const struct graph_node *node = &v->graph->nodes[index];
    uint32_t computation = called(v, node, 0);
    if (computation == HLO_NONE) return;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t parameter = graph_parameter(v->graph, computation, i);
        link(v, leaves_of(v, graph_operand(v->graph, node, i)), leaves_of(v, parameter));
    }
    link(v, leaves_of(v, v->graph->computations[computation].root), result);
}

// ((operands), result, context)
static void link_async_start(const struct visitor *v, uint32_t index) {
    uint32_t inputs = link_operands(v, index);
    struct leaf_range all = leaves_of(v, index);
    link_call(v, index, rest_of(all, all.first + inputs));
}

static void link_async_done(const struct visitor *v, uint32_t index) {
    uint32_t operand = graph_operand(v->graph, &v->graph->nodes[index], 0);
    struct leaf_range start = leaves_of(v, operand), here = leaves_of(v, index);
    if (operand == HLO_NONE) return;
    const struct graph_node *node = &v->graph->nodes[operand];
    if (start.count != here.count && node->elements.count > 1)
        start = rest_of(start, v->graph->elements[node->elements.first + 1].leaf);
    link(v, start, here);
}

static void link_while(const struct visitor *v, uint32_t index) {
    const struct graph_node *node = &v->graph->nodes[index];
    struct leaf_range here = leaves_of(v, index);
    link(v, leaves_of(v, graph_operand(v->graph, node, 0)), here);
    for (uint32_t i = 0; i < node->called_count && i < CALLED_MAX; i++) {
        uint32_t computation = called(v, node, i);
        if (computation == HLO_NONE) continue;
        struct leaf_range root = leaves_of(v, v->graph->computations[computation].root);
        link(v, here, leaves_of(v, graph_parameter(v->graph, computation, 0)));
        if (root.count == here.count) link(v, root, here);  // the body, not the condition
    }
}

static void link_conditional(const struct visitor *v, uint32_t index) {
    const struct graph_node *node = &v->graph->nodes[index];
    for (uint32_t i = 0; i < node->called_count && i < CALLED_MAX; i++) {
        uint32_t computation = called(v, node, i);
        if (computation == HLO_NONE) continue;
        uint32_t parameter = graph_parameter(v->graph, computation, 0);
        link(v, leaves_of(v, graph_operand(v->graph, node, i + 1)), leaves_of(v, parameter));
        link(v, leaves_of(v, v->graph->computations[computation].root), leaves_of(v, index));
    }
}

bool leaf_links_visit(const struct program_graph *graph, uint32_t index, leaf_link *link_fn, void *context) {
    const struct visitor v = {graph, link_fn, context};
    enum opcode opcode = graph->nodes[index].opcode;
    if (opcode == OPCODE_TUPLE)
        link_operands(&v, index);
    else if (opcode == OPCODE_GET_TUPLE_ELEMENT)
        link_element(&v, index);
    else if (opcode == OPCODE_FUSION || opcode == OPCODE_CALL)
        link_call(&v, index, leaves_of(&v, index));
    else if (opcode == OPCODE_WHILE)
        link_while(&v, index);
    else if (opcode == OPCODE_CONDITIONAL)
        link_conditional(&v, index);
    else if (opcode == OPCODE_ASYNC_START)
        link_async_start(&v, index);
    else if (opcode == OPCODE_ASYNC_DONE)
        link_async_done(&v, index);
    else
        return false;
    return true;
}
