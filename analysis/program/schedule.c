#include "analysis/program/schedule.h"

#include "analysis/program/leaf_links.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

enum { DEPTH_MAX = 64, CALLED_MAX = 16 };

struct reader {
    const struct program_graph *graph;
    struct schedule *schedule;
    struct bytes *sequences;  // of each computation
    uint8_t *is_visited;      // computations
};

// --- Times ---

static void find_sequences(struct reader *r) {
    struct wire w = wire_open(r->graph->schedule);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != SCHEDULE_SEQUENCES || f.type != WIRE_LEN) continue;
        int64_t id = 0;
        struct bytes sequence = {0};
        struct wire entry = wire_open(f.payload);
        for (struct wire_field e; wire_next(&entry, &e);) {
            if (e.number == SEQUENCES_ENTRY_KEY) id = wire_int64(&e);
            if (e.number == SEQUENCES_ENTRY_VALUE) sequence = e.payload;
        }
        uint32_t computation = id_map_get(&r->graph->computation_by_id, id);
        if (computation < r->graph->computation_count) r->sequences[computation] = sequence;
    }
}

static void visit_computation(struct reader *r, uint32_t computation, int depth);

static void visit_node(struct reader *r, int64_t id, int depth) {
    const struct program_graph *graph = r->graph;
    uint32_t index = id_map_get(&graph->node_by_id, id);
    if (index >= graph->node_count || r->schedule->time_of_node[index] != SCHEDULE_NEVER) return;
    const struct graph_node *node = &graph->nodes[index];
    bool runs_others = node->opcode == OPCODE_WHILE || node->opcode == OPCODE_CALL ||
                       node->opcode == OPCODE_CONDITIONAL;
    for (uint32_t i = 0; runs_others && i < node->called_count; i++)
        visit_computation(r, graph->called[node->first_called + i], depth + 1);
    r->schedule->order[r->schedule->count] = index;
    r->schedule->time_of_node[index] = r->schedule->count++;
}

static void visit_computation(struct reader *r, uint32_t computation, int depth) {
    if (computation >= r->graph->computation_count || r->is_visited[computation] || depth > DEPTH_MAX) return;
    r->is_visited[computation] = 1;
    struct wire w = wire_open(r->sequences[computation]);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != SEQUENCE_INSTRUCTION_IDS) continue;
        struct wire packed = wire_open_packed(&f);
        if (f.type == WIRE_VARINT) visit_node(r, wire_int64(&f), depth);
        for (uint64_t id; wire_next_varint(&packed, &id);) visit_node(r, (int64_t)id, depth);
    }
}

// --- Uses ---

static void need_until(struct schedule *schedule, uint32_t leaf, uint32_t time) {
    if (schedule->last_use_of_leaf[leaf] < time) schedule->last_use_of_leaf[leaf] = time;
}

// An array handed on is needed as long as what it is handed on to.
static void need_as_long(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct schedule *schedule = context;
    for (uint32_t i = 0; i < count; i++) need_until(schedule, first_from + i, schedule->last_use_of_leaf[first_to + i]);
}

// A loop's arrays are one with its parameters' and its body's results.
static void need_in_loop(const struct program_graph *graph, struct schedule *schedule, const struct graph_node *node) {
    for (uint32_t i = 0; i < node->called_count && i < CALLED_MAX; i++) {
        uint32_t computation = graph->called[node->first_called + i];
        if (computation >= graph->computation_count) continue;
        uint32_t parameter = graph_parameter(graph, computation, 0);
        if (parameter == HLO_NONE || graph->nodes[parameter].leaf_count != node->leaf_count) continue;
        need_as_long(schedule, graph->nodes[parameter].first_leaf, node->first_leaf, node->leaf_count);
    }
}

static void use_operands(const struct program_graph *graph, struct schedule *schedule, uint32_t index) {
    const struct graph_node *node = &graph->nodes[index];
    bool hands_on = node->opcode == OPCODE_TUPLE || node->opcode == OPCODE_GET_TUPLE_ELEMENT;
    for (uint32_t i = 0; i < node->operand_count && !hands_on; i++) {
        uint32_t operand = graph_operand(graph, node, i);
        if (operand == HLO_NONE) continue;
        for (uint32_t l = 0; l < graph->nodes[operand].leaf_count; l++)
            need_until(schedule, graph->nodes[operand].first_leaf + l, schedule->time_of_node[index]);
    }
    uint32_t operand = graph_operand(graph, node, 0);
    bool is_renamed = node->opcode == OPCODE_BITCAST && operand != HLO_NONE && node->leaf_count == 1;
    if (is_renamed) need_as_long(schedule, graph->nodes[operand].first_leaf, node->first_leaf, 1);
    if (hands_on || node->opcode == OPCODE_WHILE || node->opcode == OPCODE_CALL)
        leaf_links_visit(graph, index, need_as_long, schedule);
    if (node->opcode == OPCODE_WHILE) need_in_loop(graph, schedule, node);
}

static void find_last_uses(const struct program_graph *graph, struct schedule *schedule) {
    uint32_t root = graph->entry == HLO_NONE ? HLO_NONE : graph->computations[graph->entry].root;
    for (uint32_t l = 0; root != HLO_NONE && l < graph->nodes[root].leaf_count; l++)
        schedule->last_use_of_leaf[graph->nodes[root].first_leaf + l] = SCHEDULE_NEVER;
    for (uint32_t i = schedule->count; i-- > 0;) use_operands(graph, schedule, schedule->order[i]);
}

bool schedule_read(const struct program_graph *graph, struct arena *arena, struct schedule *schedule) {
    *schedule = (struct schedule){.time_of_node = arena_push_raw(arena, graph->node_count, sizeof(uint32_t)),
                                  .last_use_of_leaf = arena_new(arena, uint32_t, graph->leaf_count),
                                  .order = arena_push_raw(arena, graph->node_count, sizeof(uint32_t))};
    struct reader r = {.graph = graph, .schedule = schedule};
    r.sequences = arena_new(arena, struct bytes, graph->computation_count);
    r.is_visited = arena_new(arena, uint8_t, graph->computation_count);
    if (!schedule->time_of_node || !schedule->last_use_of_leaf || !schedule->order || !r.sequences || !r.is_visited)
        return false;
    if (graph->node_count) memset(schedule->time_of_node, 0xff, graph->node_count * sizeof *schedule->time_of_node);
    find_sequences(&r);
    visit_computation(&r, graph->entry, 0);
    find_last_uses(graph, schedule);
    return true;
}
