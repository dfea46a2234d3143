#include "analysis/program/program_graph.h"

#include "proto/hlo_fields.h"
#include "proto/wire.h"

enum { NESTING_MAX = 16, RECENT_SHAPES = 256 };

// A program has few shapes, and each of them many times.
struct recent_shape {
    struct bytes message;
    uint32_t leaf;
};

struct reader {
    struct program_graph *graph;
    struct recent_shape *recent;
    struct arena *arena;
    struct error *error;
};

static bool too_big(const struct reader *r) {
    return error_set(r->error, ERROR_TOO_BIG, "the program has more operands than advice may hold in memory");
}

// --- Leaves ---

struct node_counts {
    uint32_t operands, called, leaves, elements;
};

// The next element of a tuple's shape.
static bool next_element(struct wire *tuple, struct bytes *element) {
    for (struct wire_field f; wire_next(tuple, &f);) {
        if (f.number != SHAPE_TUPLE_SHAPES || f.type != WIRE_LEN) continue;
        *element = f.payload;
        return true;
    }
    return false;
}

// What is nested too deep counts as one array. Returns the elements of `shape` itself.
static uint32_t count_shape(struct bytes shape, int depth, struct node_counts *counts) {
    uint32_t count = 0;
    struct wire w = wire_open(shape);
    for (struct bytes element; depth <= NESTING_MAX && next_element(&w, &element); count++)
        count_shape(element, depth + 1, counts);
    counts->leaves += count == 0;
    counts->elements += count;
    return count;
}

static void add_leaf(struct reader *r, uint32_t node, struct bytes shape) {
    struct program_graph *graph = r->graph;
    struct recent_shape *recent = &r->recent[(uint64_t)id_map_key(shape) % RECENT_SHAPES];
    bool is_known = recent->message.data && bytes_equal(recent->message, shape);
    graph->node_of_leaf[graph->leaf_count] = node;
    graph->leaves[graph->leaf_count] = is_known ? graph->leaves[recent->leaf] : array_shape_read(shape);
    *recent = (struct recent_shape){shape, graph->leaf_count++};
}

static struct graph_elements add_shape(struct reader *r, uint32_t node, struct bytes shape, int depth) {
    struct program_graph *graph = r->graph;
    struct graph_elements elements = {.first = graph->element_count};
    struct wire w = wire_open(shape);
    for (struct bytes element; depth <= NESTING_MAX && next_element(&w, &element);) elements.count++;
    if (!elements.count) {
        add_leaf(r, node, shape);
        return elements;
    }
    graph->element_count += elements.count;
    struct graph_element *at = graph->elements + elements.first;
    w = wire_open(shape);
    for (struct bytes element; next_element(&w, &element); at++) {
        at->leaf = graph->leaf_count;
        at->inside = add_shape(r, node, element, depth + 1);
    }
    return elements;
}

// --- Nodes ---

static uint32_t count_scalars(const struct wire_field *f) {
    uint32_t count = f->type == WIRE_VARINT;
    struct wire packed = wire_open_packed(f);
    for (uint64_t value; wire_next_varint(&packed, &value);) count++;
    return count;
}

static void count_node(struct bytes message, struct node_counts *counts) {
    struct wire w = wire_open(message);
    struct bytes shape = {0};
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == HLO_INSTRUCTION_SHAPE && f.type == WIRE_LEN) shape = f.payload;
        if (f.number == HLO_INSTRUCTION_OPERAND_IDS) counts->operands += count_scalars(&f);
        if (f.number == HLO_INSTRUCTION_CALLED_COMPUTATION_IDS) counts->called += count_scalars(&f);
    }
    count_shape(shape, 0, counts);
}

static void add_id(const struct id_map *map, uint64_t id, uint32_t *list, uint32_t *count) {
    list[(*count)++] = id_map_get(map, (int64_t)id);
}

static void add_ids(const struct id_map *map, const struct wire_field *f, uint32_t *list, uint32_t *count) {
    struct wire packed = wire_open_packed(f);
    if (f->type == WIRE_VARINT) add_id(map, f->value, list, count);
    for (uint64_t id; wire_next_varint(&packed, &id);) add_id(map, id, list, count);
}

static void read_field(struct reader *r, struct graph_node *node, const struct wire_field *f) {
    struct program_graph *graph = r->graph;
    switch (f->number) {
        case HLO_INSTRUCTION_OPCODE:
            node->opcode = opcode_of(f->payload);
            break;
        case HLO_INSTRUCTION_METADATA:
            node->op_name = hlo_metadata_read(f->payload).op_name;
            break;
        case HLO_INSTRUCTION_PARAMETER_NUMBER:
        case HLO_INSTRUCTION_TUPLE_INDEX:
            if (f->value) node->number = wire_int64(f);
            break;
        case HLO_INSTRUCTION_OPERAND_IDS:
            add_ids(&r->graph->node_by_id, f, graph->operands, &graph->operand_count);
            break;
        case HLO_INSTRUCTION_CALLED_COMPUTATION_IDS:
            add_ids(&r->graph->computation_by_id, f, graph->called, &graph->called_count);
            break;
        default:
            break;
    }
}

static void read_node(struct reader *r, uint32_t index) {
    struct program_graph *graph = r->graph;
    const struct hlo_instruction_ref *ref = &graph->module->instructions[index];
    struct graph_node *node = &graph->nodes[index];
    struct bytes shape = {0};
    *node = (struct graph_node){.computation = ref->computation,
                                .message = ref->message,
                                .first_operand = graph->operand_count,
                                .first_called = graph->called_count,
                                .first_leaf = graph->leaf_count};
    struct wire w = wire_open(ref->message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == HLO_INSTRUCTION_SHAPE && f.type == WIRE_LEN) shape = f.payload;
        read_field(r, node, &f);
    }
    node->elements = add_shape(r, index, shape, 0);
    node->operand_count = graph->operand_count - node->first_operand;
    node->called_count = graph->called_count - node->first_called;
    node->leaf_count = graph->leaf_count - node->first_leaf;
}

static bool read_nodes(struct reader *r) {
    struct program_graph *graph = r->graph;
    const struct hlo_module *module = graph->module;
    struct node_counts counts = {0};
    for (uint32_t i = 0; i < module->instruction_count; i++) count_node(module->instructions[i].message, &counts);
    graph->node_count = module->instruction_count;
    graph->nodes = arena_push_raw(r->arena, graph->node_count, sizeof *graph->nodes);
    graph->operands = arena_push_raw(r->arena, counts.operands, sizeof *graph->operands);
    graph->called = arena_push_raw(r->arena, counts.called, sizeof *graph->called);
    graph->elements = arena_push_raw(r->arena, counts.elements, sizeof *graph->elements);
    graph->leaves = arena_push_raw(r->arena, counts.leaves, sizeof *graph->leaves);
    graph->node_of_leaf = arena_push_raw(r->arena, counts.leaves, sizeof *graph->node_of_leaf);
    r->recent = arena_new(r->arena, struct recent_shape, RECENT_SHAPES);
    if (!graph->nodes || !graph->operands || !graph->called || !graph->elements || !graph->leaves ||
        !graph->node_of_leaf || !r->recent)
        return too_big(r);
    for (uint32_t i = 0; i < graph->node_count; i++) read_node(r, i);
    return true;
}

// --- Computations ---

struct computation_ids {
    int64_t id, root_id;
};

static struct computation_ids read_computation_ids(struct bytes message) {
    struct computation_ids ids = {0};
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == HLO_COMPUTATION_ID) ids.id = wire_int64(&f);
        if (f.number == HLO_COMPUTATION_ROOT_ID) ids.root_id = wire_int64(&f);
    }
    return ids;
}

// Ids of computations and instructions, the roots and the entry: before the nodes, which name them.
static bool read_ids(struct reader *r) {
    struct program_graph *graph = r->graph;
    const struct hlo_module *module = graph->module;
    uint32_t computation = 0;
    uint64_t entry_id = 0;
    graph->computation_count = module->computation_count;
    graph->computations = arena_new(r->arena, struct graph_computation, graph->computation_count);
    if (!graph->computations || !id_map_init(&r->graph->computation_by_id, r->arena, graph->computation_count) ||
        !id_map_init(&r->graph->node_by_id, r->arena, module->instruction_count))
        return too_big(r);
    for (uint32_t i = 0; i < module->instruction_count; i++)
        id_map_put(&r->graph->node_by_id, module->instructions[i].id, i);
    struct wire w = wire_open(wire_find_message(module->blob, HLO_PROTO_MODULE));
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == HLO_MODULE_ENTRY_COMPUTATION_ID) entry_id = f.value;
        if (f.number == HLO_MODULE_SCHEDULE && f.type == WIRE_LEN) graph->schedule = f.payload;
        if (f.number != HLO_MODULE_COMPUTATIONS || f.type != WIRE_LEN || computation >= graph->computation_count)
            continue;
        struct computation_ids ids = read_computation_ids(f.payload);
        graph->computations[computation].root = id_map_get(&r->graph->node_by_id, ids.root_id);
        id_map_put(&r->graph->computation_by_id, ids.id, computation++);
    }
    graph->entry = id_map_get(&r->graph->computation_by_id, (int64_t)entry_id);
    return true;
}

static bool list_parameters(struct reader *r) {
    struct program_graph *graph = r->graph;
    graph->parameters = arena_push_raw(r->arena, graph->node_count, sizeof *graph->parameters);
    if (!graph->parameters) return too_big(r);
    if (graph->node_count) memset(graph->parameters, 0xff, graph->node_count * sizeof *graph->parameters);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct graph_computation *c = &graph->computations[graph->nodes[i].computation];
        if (!c->node_count++) c->first_node = c->first_parameter = i;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct graph_computation *c = &graph->computations[graph->nodes[i].computation];
        int64_t number = graph->nodes[i].number;
        if (graph->nodes[i].opcode != OPCODE_PARAMETER || number < 0 || number >= c->node_count) continue;
        graph->parameters[c->first_parameter + (uint32_t)number] = i;
        if (c->parameter_count <= number) c->parameter_count = (uint32_t)number + 1;
    }
    return true;
}

// --- Buffers ---

// HLO_NONE for the table of a tuple.
static uint32_t leaf_of(const struct program_graph *graph, const struct hlo_buffer *buffer) {
    int64_t index[HLO_SHAPE_INDEX_MAX];
    size_t count = hlo_buffer_shape_index(buffer, index, HLO_SHAPE_INDEX_MAX);
    if (buffer->instruction == HLO_NONE || count > HLO_SHAPE_INDEX_MAX) return HLO_NONE;
    uint32_t leaf = graph->nodes[buffer->instruction].first_leaf;
    struct graph_elements elements = graph->nodes[buffer->instruction].elements;
    for (size_t level = 0; level < count; level++) {
        if (index[level] < 0 || index[level] >= elements.count) return HLO_NONE;
        const struct graph_element *element = &graph->elements[elements.first + (uint32_t)index[level]];
        leaf = element->leaf;
        elements = element->inside;
    }
    return elements.count ? HLO_NONE : leaf;
}

static bool map_buffers(struct reader *r) {
    struct program_graph *graph = r->graph;
    const struct hlo_module *module = graph->module;
    graph->leaf_of_buffer = arena_push_raw(r->arena, module->buffer_count, sizeof *graph->leaf_of_buffer);
    if (!graph->leaf_of_buffer) return too_big(r);
    for (uint32_t i = 0; i < module->buffer_count; i++) {
        graph->leaf_of_buffer[i] = leaf_of(graph, &module->buffers[i]);
    }
    return true;
}

bool program_graph_read(const struct hlo_module *module, struct arena *arena, struct program_graph *graph,
                        struct error *error) {
    *graph = (struct program_graph){.module = module};
    struct reader r = {.graph = graph, .arena = arena, .error = error};
    if (!read_ids(&r) || !read_nodes(&r) || !list_parameters(&r) || !map_buffers(&r)) return false;
    if (graph->entry != HLO_NONE) graph->computations[graph->entry].is_entry = true;
    return true;
}
