#include "analysis/program/hlo_around.h"

struct writing {
    const struct program_graph *graph;
    struct text_writer text;
    struct hlo_around *around;
};

static struct bytes name_of(const struct writing *w, uint32_t node) {
    return hlo_instruction_read(w->graph->module, node).name;
}

static void put_line(struct writing *w, const char *before, uint32_t node) {
    text_put(&w->text, before);
    hlo_line_put(&w->text, w->graph, node);
    text_put(&w->text, "\n");
}

static void put_more(struct writing *w, uint32_t count, const char *what) {
    if (!count) return;
    text_put(&w->text, "// ... ");
    text_put_int64(&w->text, count);
    text_put(&w->text, what);
}

// --- Neighbours ---

static bool reads(const struct program_graph *graph, const struct graph_node *node, uint32_t operand) {
    for (uint32_t i = 0; i < node->operand_count; i++) {
        if (graph_operand(graph, node, i) == operand) return true;
    }
    return false;
}

static void put_operands(struct writing *w, const struct graph_node *node) {
    struct hlo_around *around = w->around;
    if (node->operand_count) text_put(&w->text, "\n// operands\n");
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(w->graph, node, i);
        if (operand == HLO_NONE) continue;
        if (around->operand_count == HLO_AROUND_NEIGHBOURS) {
            around->operands_left_out++;
            continue;
        }
        around->operands[around->operand_count++] = name_of(w, operand);
        put_line(w, "", operand);
    }
    put_more(w, around->operands_left_out, " more operands\n");
}

// They stand in its own computation.
static void put_users(struct writing *w, uint32_t node, const struct graph_computation *in) {
    struct hlo_around *around = w->around;
    text_put(&w->text, "\n// users\n");
    for (uint32_t i = in->first_node; i < in->first_node + in->node_count; i++) {
        if (!reads(w->graph, &w->graph->nodes[i], node)) continue;
        if (around->user_count == HLO_AROUND_NEIGHBOURS) {
            around->users_left_out++;
            continue;
        }
        around->users[around->user_count++] = name_of(w, i);
        put_line(w, "", i);
    }
    if (!around->user_count) text_put(&w->text, "// none: it is what the computation gives back, or a dead end\n");
    put_more(w, around->users_left_out, " more users\n");
}

// --- Computations ---

static void put_computation(struct writing *w, uint32_t computation, uint32_t first, uint32_t count) {
    const struct graph_computation *c = &w->graph->computations[computation];
    text_put(&w->text, c->is_entry ? "ENTRY %" : "%");
    text_put_bytes(&w->text, w->graph->module->computation_names[computation]);
    text_put(&w->text, " {\n");
    put_more(w, first - c->first_node, " operations before\n");
    for (uint32_t i = first; i < first + count; i++) put_line(w, "  ", i);
    put_more(w, c->first_node + c->node_count - first - count, " operations after\n");
    text_put(&w->text, "}\n");
}

static void put_called(struct writing *w, const struct graph_node *node) {
    uint32_t room = HLO_AROUND_CALLED_LINES, left = 0;
    if (node->called_count) text_put(&w->text, "\n// what it calls\n");
    for (uint32_t i = 0; i < node->called_count; i++) {
        uint32_t computation = w->graph->called[node->first_called + i];
        if (computation == HLO_NONE) continue;
        const struct graph_computation *c = &w->graph->computations[computation];
        uint32_t count = c->node_count < room ? c->node_count : room;
        if (count) put_computation(w, computation, c->first_node, count);
        left += count == 0;
        room -= count;
    }
    put_more(w, left, " more computations\n");
}

// Of a long one as much before the operation as behind it.
static void put_around(struct writing *w, uint32_t node, uint32_t computation) {
    const struct graph_computation *c = &w->graph->computations[computation];
    struct hlo_around *around = w->around;
    uint32_t count = c->node_count < HLO_AROUND_LINES ? c->node_count : HLO_AROUND_LINES;
    uint32_t before = node - c->first_node < count / 2 ? node - c->first_node : count / 2;
    uint32_t first = node - before, last = c->first_node + c->node_count - count;
    around->computation_lines = count;
    around->computation_left_out = c->node_count - count;
    text_put(&w->text, "\n// its computation, in the order of the file\n");
    put_computation(w, computation, first < last ? first : last, count);
}

bool hlo_around_make(const struct program_graph *graph, uint32_t node, struct arena *arena, struct hlo_around *around,
                     struct error *error) {
    const struct graph_node *of = &graph->nodes[node];
    const struct graph_computation *in = &graph->computations[of->computation];
    struct writing w = {.graph = graph, .text = {.arena = arena}, .around = around};
    *around = (struct hlo_around){.instruction = name_of(&w, node),
                                  .computation = graph->module->computation_names[of->computation],
                                  .operands = arena_push_raw(arena, HLO_AROUND_NEIGHBOURS, sizeof(struct bytes)),
                                  .users = arena_push_raw(arena, HLO_AROUND_NEIGHBOURS, sizeof(struct bytes))};
    if (!around->operands || !around->users)
        return error_set(error, ERROR_TOO_BIG, "There is not enough memory to write the program around it.");
    put_line(&w, "", node);
    put_operands(&w, of);
    put_users(&w, node, in);
    put_called(&w, of);
    put_around(&w, node, of->computation);
    around->text = text_writer_finish(&w.text);
    return around->text ||
           error_set(error, ERROR_TOO_BIG, "There is not enough memory to write the program around it.");
}
