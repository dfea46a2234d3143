#include "analysis/advice/looked_up.h"

#include "analysis/program/op_name.h"

uint32_t looked_up_table(const struct advisor *advisor, uint32_t index) {
    const struct graph_node *node = &advisor->graph.nodes[index];
    return node->opcode == OPCODE_GATHER ? flow_operand_leaf(&advisor->batch, node, 0) : HLO_NONE;
}

enum { ROWS_MAX = 64 };

struct rows {  // elements of what is looked up at once, each once with one name and table, or of the tables themselves
    int64_t elements[ROWS_MAX];
    struct bytes names[ROWS_MAX];  // of the operation
    int64_t table_elements[ROWS_MAX], bytes[ROWS_MAX];
    uint32_t count;
};

static bool has_elements(const struct rows *rows, const struct array_shape *shape) {
    int64_t elements = array_is(shape) ? array_shape_elements(shape) : 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->elements[i] == elements) return true;
    }
    return false;
}

static bool is_among(const struct rows *rows, const struct array_shape *shape, struct bytes name) {
    int64_t elements = array_is(shape) ? array_shape_elements(shape) : 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->elements[i] == elements && bytes_equal(rows->names[i], name)) return true;
    }
    return rows->count == ROWS_MAX && has_elements(rows, shape);
}

static bool is_noted(const struct rows *rows, const struct array_shape *shape, struct bytes name, int64_t table) {
    for (uint32_t i = 0; i < rows->count; i++) {
        bool is_of_it = rows->table_elements[i] == table && bytes_equal(rows->names[i], name);
        if (is_of_it && rows->elements[i] == array_shape_elements(shape)) return true;
    }
    return false;
}

// Of tables that are split by what is looked up: their first dimension.
static struct rows find_rows(const struct advisor *advisor, const struct sharding_split *split) {
    struct rows rows = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count && rows.count < ROWS_MAX; i++) {
        uint32_t table = looked_up_table(advisor, i), found = advisor->graph.nodes[i].first_leaf;
        if (table == HLO_NONE || advisor->batch.marks[table] || !(sharding_split_marks(split, table) & 1)) continue;
        const struct array_shape *shape = &advisor->graph.leaves[found];
        struct bytes name = advisor->graph.nodes[i].op_name;
        int64_t elements = array_shape_elements(&advisor->graph.leaves[table]);
        if (!array_is(shape) || is_noted(&rows, shape, name, elements)) continue;
        rows.names[rows.count] = name;
        rows.table_elements[rows.count] = elements;
        rows.bytes[rows.count] = array_shape_bytes(shape);
        rows.elements[rows.count++] = array_shape_elements(shape);
    }
    return rows;
}

static bool is_named(const struct graph_node *node, struct bytes primitive) {
    return bytes_contains(op_name_primitive(node->op_name), primitive);
}

static void note_gradients(const struct advisor *advisor, const struct graph_node *scatter, const struct rows *rows,
                           uint8_t *whole) {
    for (uint32_t i = 0; i < scatter->operand_count; i++) {
        uint32_t leaf = flow_operand_leaf(&advisor->batch, scatter, i);
        if (leaf != HLO_NONE && has_elements(rows, &advisor->graph.leaves[leaf])) whole[leaf] = 1;
    }
}

uint8_t *looked_up_find(const struct advisor *advisor, const struct sharding_split *split) {
    const struct program_graph *graph = &advisor->graph;
    uint8_t *whole = arena_new(advisor->arena, uint8_t, graph->leaf_count + 1u);
    struct rows rows = find_rows(advisor, split);
    if (!whole) error_set(advisor->error, ERROR_TOO_BIG, "no memory left for what is looked up");
    for (uint32_t i = 0; whole && advisor->is_for_tpu && i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        bool is_of_rows = node->leaf_count == 1 && is_among(&rows, &graph->leaves[node->first_leaf], node->op_name);
        if (is_of_rows && is_named(node, BYTES("gather"))) whole[node->first_leaf] = 2;
        if (is_named(node, BYTES("scatter"))) note_gradients(advisor, node, &rows, whole);
    }
    return whole;
}

static bool is_split_by_columns(const struct advisor *advisor, uint8_t marks, uint32_t table) {
    return marks & 1u << (advisor->graph.leaves[table].rank - 1);
}

int64_t looked_up_numbers_bytes(const struct advisor *advisor, const struct sharding_split *split) {
    int64_t most = 0;
    for (uint32_t i = 0; advisor->is_for_gpu && i < advisor->graph.node_count; i++) {
        uint32_t table = looked_up_table(advisor, i);
        uint8_t marks = table == HLO_NONE || advisor->batch.marks[table] ? 0 : sharding_split_marks(split, table);
        uint32_t numbers = flow_operand_leaf(&advisor->batch, &advisor->graph.nodes[i], 1);
        if (!marks || numbers == HLO_NONE || is_split_by_columns(advisor, marks, table)) continue;
        int64_t bytes = array_shape_bytes(&advisor->graph.leaves[numbers]);
        if (bytes > most) most = bytes;
    }
    return most;
}

static bool note_table(struct rows *tables, const struct array_shape *table) {
    if (has_elements(tables, table) || tables->count == ROWS_MAX) return false;
    tables->elements[tables->count++] = array_shape_elements(table);
    return true;
}

static int64_t add_bytes(int64_t sum, const struct array_shape *shape) {
    int64_t bytes = array_is(shape) ? array_shape_bytes(shape) : 0;
    return bytes > 0 && sum < INT64_MAX - bytes ? sum + bytes : sum;
}

int64_t looked_up_rows_bytes(const struct advisor *advisor, const struct sharding_split *split) {
    enum { SEVERAL = 4 };
    struct rows tables = {.count = 0};
    int64_t rows_bytes = 0, tables_bytes = 0;
    for (uint32_t i = 0; advisor->is_for_gpu && i < advisor->graph.node_count; i++) {
        uint32_t table = looked_up_table(advisor, i);
        if (table == HLO_NONE || advisor->batch.marks[table] || !sharding_split_marks(split, table)) continue;
        if (!note_table(&tables, &advisor->graph.leaves[table])) continue;
        rows_bytes = add_bytes(rows_bytes, &advisor->graph.leaves[advisor->graph.nodes[i].first_leaf]);
        tables_bytes = add_bytes(tables_bytes, &advisor->graph.leaves[table]);
    }
    bool are_several = tables.count >= SEVERAL && tables_bytes > rows_bytes;
    bool are_drawn = !advisor->roles.is_graph && tables_bytes <= rows_bytes;
    return are_several || are_drawn ? rows_bytes : 0;
}

// Has some buffer as many elements?
static bool is_in_a_buffer(const struct advisor *advisor, int64_t elements) {
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
        if (shape && array_is(shape) && array_shape_elements(shape) == elements) return true;
    }
    return false;
}

int64_t looked_up_unfused_bytes(const struct advisor *advisor, const struct sharding_split *split) {
    struct rows rows = {.count = 0};
    double bytes = 0;
    if (advisor->is_for_gpu) rows = find_rows(advisor, split);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (!is_in_a_buffer(advisor, rows.elements[i])) bytes += (double)rows.bytes[i];
    }
    return what_if_bytes(bytes);
}

// Of one table, as its gradient is made: see looked_up.h. What a fusion takes today is in parts within one then.
static double scattered_bytes(const struct advisor *advisor, const struct rows *rows, uint32_t first,
                              bool is_batch_split) {
    enum { GRADIENT_BYTES = 4 };
    double most = 0, own_part = 0, tables = 0, ways = (double)advisor->request.ways;
    for (uint32_t i = first; i < rows->count; i++) {
        if (rows->table_elements[i] != rows->table_elements[first]) continue;
        tables += GRADIENT_BYTES * (double)rows->table_elements[i] / ways;
        if ((double)rows->bytes[i] <= most) continue;
        most = (double)rows->bytes[i];
        own_part = is_batch_split && is_in_a_buffer(advisor, rows->elements[i]) ? most / ways : 0;
    }
    return most + own_part + tables;
}

int64_t looked_up_scattered_bytes(const struct advisor *advisor, const struct sharding_split *split,
                                  bool is_batch_split) {
    double most = 0;
    struct rows rows = {.count = 0};
    if (advisor->is_for_gpu && advisor->roles.is_training && !advisor->roles.is_graph) rows = find_rows(advisor, split);
    for (uint32_t i = 0; i < rows.count; i++) {
        double bytes = scattered_bytes(advisor, &rows, i, is_batch_split);
        if (bytes > most) most = bytes;
    }
    return what_if_bytes(most);
}

int64_t looked_up_most_bytes(const struct advisor *advisor, const uint8_t *looked_up) {
    int64_t most = 0;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        int64_t bytes = leaf != HLO_NONE && looked_up[leaf] ? advisor->module->buffers[i].size_bytes : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

const struct array_shape *looked_up_in_columns(const struct advisor *advisor, const struct sharding_split *split) {
    const double some = 0.005;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        uint32_t from = looked_up_table(advisor, i);
        if (from == HLO_NONE || split->flow.marks[from] != 1u << 1 || advisor->batch.marks[from]) continue;
        const struct array_shape *table = &advisor->graph.leaves[from];
        if (table->rank == 2 && table->dimensions[0] % advisor->request.ways != 0 &&
            (double)array_shape_bytes(table) > some * (double)advisor->what_if.total_bytes)
            return table;
    }
    return NULL;
}
