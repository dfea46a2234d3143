#include "analysis/profile/steps/step_graph.h"

#include "analysis/profile/steps/step_event.h"

// Types of contexts that no profiler writes: the connections that XProf makes by the stats of two kinds of events.
enum { CONTEXT_TO_TPU = -2, CONTEXT_TO_ITERATOR = -3, CONTEXT_TO_OPTIONAL_ITERATOR = -4 };

struct open_node {
    int64_t begin_ps, end_ps;
    uint32_t node;
};

struct async_node {
    uint32_t produces, consumes, root, executor;
};

bool step_graph_init(struct step_graph *graph, const struct metadata_names *events, const struct metadata_kinds *stats,
                     struct arena *arena) {
    *graph = (struct step_graph){.stats = stats};
    graph->has_tpu_executes = metadata_has_name(events, BYTES("TpuExecuteOp"));
    graph->has_iterators = metadata_has_name(events, BYTES("IteratorGetNextOp::DoCompute")) ||
                           metadata_has_name(events, BYTES("IteratorGetNextAsOptionalOp::DoCompute"));
    return context_table_init(&graph->contexts, arena);
}

void step_graph_release(struct step_graph *graph) {
    struct growing_block *blocks[] = {&graph->open,  &graph->async,     &graph->nodes,    &graph->links,
                                      &graph->roots, &graph->executors, &graph->pipelines};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) large_block_release(blocks[i]);
    context_table_release(&graph->contexts);
}

// --- Nesting ---

static int64_t end_of(const struct host_event *event) {
    int64_t end;
    return __builtin_add_overflow(event->offset_ps, event->duration_ps, &end) ? INT64_MAX : end;
}

static void close_node(struct step_graph *graph, const struct open_node *open) {
    ((struct step_node *)graph->nodes.data)[open->node].subtree_end = graph->node_count;
}

// Closes the nodes that do not enclose the event.
static void close_around(struct step_graph *graph, const struct host_event *event) {
    const struct open_node *open = graph->open.data;
    int64_t end = end_of(event);
    while (graph->open_count &&
           (event->offset_ps < open[graph->open_count - 1].begin_ps || end > open[graph->open_count - 1].end_ps)) {
        close_node(graph, &open[--graph->open_count]);
    }
}

uint32_t step_graph_node_at(struct step_graph *graph, const struct host_event *event) {
    const struct open_node *open = graph->open.data;
    close_around(graph, event);
    return graph->open_count ? open[graph->open_count - 1].node : STEP_NODE_NONE;
}

// --- Nodes ---

// Room for one more of what stands in a block.
static bool has_room(struct growing_block *block, size_t count, size_t size) {
    return large_block_reserve(block, (count + 1) * size);
}

bool step_graph_link_contexts(struct step_graph *graph) {
    uint32_t count = graph->contexts.count;
    if (!large_block_reserve(&graph->links, count * sizeof(struct step_link))) return false;
    struct step_link *links = graph->links.data;
    for (uint32_t i = graph->link_count; i < count; i++)
        links[i] = (struct step_link){STEP_NODE_NONE, 0, 0, STEP_NODE_NONE};
    graph->link_count = count;
    return true;
}

// A new node that encloses nothing yet. STEP_NODE_NONE when there is no memory.
static uint32_t new_node(struct step_graph *graph, uint32_t produces, uint32_t consumes) {
    if (graph->node_count == STEP_NODE_NONE - 1 || !step_graph_link_contexts(graph) ||
        !has_room(&graph->nodes, graph->node_count, sizeof(struct step_node)))
        return STEP_NODE_NONE;
    uint32_t index = graph->node_count++;
    struct step_node *node = (struct step_node *)graph->nodes.data + index;
    struct step_link *links = graph->links.data;
    *node = (struct step_node){index + 1, produces, STEP_NODE_NONE};
    if (produces != CONTEXT_NONE) links[produces].producer_count++;
    if (consumes == CONTEXT_NONE) return index;
    links[consumes].consumer_count++;
    node->next_consumer = links[consumes].first_consumer;
    links[consumes].first_consumer = index;
    return index;
}

// The same as the innermost one around what follows.
static uint32_t open_node(struct step_graph *graph, const struct host_event *event, uint32_t produces,
                          uint32_t consumes) {
    if (!has_room(&graph->open, graph->open_count, sizeof(struct open_node))) return STEP_NODE_NONE;
    uint32_t node = new_node(graph, produces, consumes);
    if (node == STEP_NODE_NONE) return node;
    ((struct open_node *)graph->open.data)[graph->open_count++] = (struct open_node){event->offset_ps, end_of(event),
                                                                                     node};
    return node;
}

// --- A second connection of an event: a node of its own, around it (to consume) or in it (to produce) ---

static bool has_run(const struct step_event *said) {
    return said->has[STEP_FACT_RUN] && said->has[STEP_FACT_ITER_NUM];
}

static uint32_t run_context(struct step_graph *graph, const struct step_event *said, int64_t type) {
    uint64_t run = said->value[STEP_FACT_RUN] * 0x9e3779b97f4a7c15u + said->value[STEP_FACT_ITER_NUM];
    return context_table_find(&graph->contexts, type, run);
}

static bool consume_run(struct step_graph *graph, const struct host_event *event, const struct step_event *said,
                        int64_t type) {
    uint32_t context = run_context(graph, said, type);
    return context != CONTEXT_NONE && open_node(graph, event, CONTEXT_NONE, context) != STEP_NODE_NONE;
}

// Of several executors of one run and iteration the last one leads to the iterator (ConnectInterThread).
static bool produce_run(struct step_graph *graph, const struct host_event *event, const struct step_event *said,
                        int64_t type) {
    uint32_t context = run_context(graph, said, type);
    uint32_t node = context == CONTEXT_NONE ? STEP_NODE_NONE : open_node(graph, event, context, CONTEXT_NONE);
    if (node == STEP_NODE_NONE) return false;
    if (type != CONTEXT_TO_TPU) ((struct step_link *)graph->links.data)[context].last_producer = node;
    return true;
}

static bool add_consuming_runs(struct step_graph *graph, const struct host_event *event,
                               const struct step_event *said) {
    if (!has_run(said)) return true;
    if (event->kind == HOST_EVENT_ITERATOR) return consume_run(graph, event, said, CONTEXT_TO_ITERATOR);
    if (event->kind == HOST_EVENT_OPTIONAL_ITERATOR)
        return consume_run(graph, event, said, CONTEXT_TO_OPTIONAL_ITERATOR);
    return event->kind != HOST_EVENT_TPU_EXECUTE || consume_run(graph, event, said, CONTEXT_TO_TPU);
}

static bool add_producing_runs(struct step_graph *graph, const struct host_event *event,
                               const struct step_event *said) {
    if (event->kind != HOST_EVENT_EXECUTOR || !has_run(said)) return true;
    if (graph->has_iterators && !(produce_run(graph, event, said, CONTEXT_TO_ITERATOR) &&
                                  produce_run(graph, event, said, CONTEXT_TO_OPTIONAL_ITERATOR)))
        return false;
    return !graph->has_tpu_executes || produce_run(graph, event, said, CONTEXT_TO_TPU);
}

// --- What is kept beside the nodes ---

static bool add_root(struct step_graph *graph, const struct host_event *event, const struct step_event *said) {
    if (!has_room(&graph->roots, graph->root_count, sizeof(struct step_root))) return false;
    enum step_fact number = said->has[STEP_FACT_ITER_NUM] ? STEP_FACT_ITER_NUM : STEP_FACT_STEP_NUM;
    ((struct step_root *)graph->roots.data)[graph->root_count++] = (struct step_root){
        .metadata_id = event->metadata_id,
        .begin_ps = event->offset_ps,
        .duration_ps = event->duration_ps,
        .node = STEP_NODE_NONE,
        .level = (int32_t)(int64_t)said->value[STEP_FACT_ROOT],
        .has_run = said->has[STEP_FACT_RUN],
        .run = said->value[STEP_FACT_RUN],
        .has_number = said->has[number],
        .number = (int64_t)said->value[number],
    };
    return true;
}

static bool add_executor(struct step_graph *graph, const struct host_event *event, const struct step_event *said) {
    graph->has_loops |= said->value[STEP_FACT_ITER_NUM] != 0;
    if (!graph->keeps_executors) return true;
    if (!has_room(&graph->executors, graph->executor_count, sizeof(struct step_executor))) return false;
    ((struct step_executor *)graph->executors.data)[graph->executor_count++] = (struct step_executor){
        .run = said->value[STEP_FACT_RUN],
        .iter_num = said->value[STEP_FACT_ITER_NUM],
        .begin_ps = event->offset_ps,
        .duration_ps = event->duration_ps,
        .node = STEP_NODE_NONE,
    };
    return true;
}

static bool add_pipeline(struct step_graph *graph, uint64_t run) {
    if (!has_room(&graph->pipelines, graph->pipeline_count, sizeof run)) return false;
    ((uint64_t *)graph->pipelines.data)[graph->pipeline_count++] = run;
    return true;
}

// --- An event ---

static bool find_context(struct step_graph *graph, const struct step_event *said, enum step_fact type,
                         enum step_fact id, uint32_t *context) {
    *context = CONTEXT_NONE;
    if (!said->has[type] || !said->has[id]) return true;
    *context = context_table_find(&graph->contexts, (int64_t)said->value[type], said->value[id]);
    return *context != CONTEXT_NONE;
}

static void settle(struct step_graph *graph, const struct async_node *wanted, uint32_t node) {
    if (wanted->root != STEP_NODE_NONE) ((struct step_root *)graph->roots.data)[wanted->root].node = node;
    if (wanted->executor != STEP_NODE_NONE)
        ((struct step_executor *)graph->executors.data)[wanted->executor].node = node;
}

static bool describe(struct step_graph *graph, const struct host_event *event, const struct step_event *said,
                     struct async_node *wanted) {
    *wanted = (struct async_node){CONTEXT_NONE, CONTEXT_NONE, STEP_NODE_NONE, STEP_NODE_NONE};
    if (!find_context(graph, said, STEP_FACT_PRODUCER_TYPE, STEP_FACT_PRODUCER_ID, &wanted->produces) ||
        !find_context(graph, said, STEP_FACT_CONSUMER_TYPE, STEP_FACT_CONSUMER_ID, &wanted->consumes))
        return false;
    if (said->has[STEP_FACT_ROOT]) wanted->root = (uint32_t)graph->root_count;
    if (said->has[STEP_FACT_ROOT] && !add_root(graph, event, said)) return false;
    if (event->kind != HOST_EVENT_EXECUTOR || !has_run(said)) return true;
    if (graph->keeps_executors) wanted->executor = (uint32_t)graph->executor_count;
    return add_executor(graph, event, said);
}

static bool add_async(struct step_graph *graph, const struct async_node *wanted) {
    if (!has_room(&graph->async, graph->async_count, sizeof *wanted)) return false;
    ((struct async_node *)graph->async.data)[graph->async_count++] = *wanted;
    return true;
}

static bool add_nested(struct step_graph *graph, const struct host_event *event, const struct step_event *said,
                       const struct async_node *wanted, bool is_node) {
    close_around(graph, event);
    if (!add_consuming_runs(graph, event, said)) return false;
    if (is_node) {
        uint32_t node = open_node(graph, event, wanted->produces, wanted->consumes);
        if (node == STEP_NODE_NONE) return false;
        settle(graph, wanted, node);
    }
    return add_producing_runs(graph, event, said);
}

bool step_graph_add(struct step_graph *graph, const struct host_event *event) {
    struct step_event said;
    struct async_node wanted;
    if (event->kind == HOST_EVENT_THREADPOOL && event->duration_ps == 0) return true;
    if (event->kind == HOST_EVENT_OTHER && event->stats.at == event->stats.end) {
        close_around(graph, event);
        return true;
    }
    step_event_read(event, graph->stats, &said);
    if (event->kind == HOST_EVENT_TF_DATA && said.has[STEP_FACT_RUN] && !add_pipeline(graph, said.value[STEP_FACT_RUN]))
        return false;
    if (!describe(graph, event, &said, &wanted)) return false;
    bool is_node = wanted.produces != CONTEXT_NONE || wanted.consumes != CONTEXT_NONE ||
                   wanted.root != STEP_NODE_NONE || wanted.executor != STEP_NODE_NONE;
    if (said.value[STEP_FACT_ASYNC]) return !is_node || add_async(graph, &wanted);
    return add_nested(graph, event, &said, &wanted, is_node);
}

// --- The end of a line ---

// What is not nested stands behind the line's other nodes, so that it is in nobody's run.
static bool add_async_nodes(struct step_graph *graph) {
    const struct async_node *async = graph->async.data;
    for (size_t i = 0; i < graph->async_count; i++) {
        uint32_t node = new_node(graph, async[i].produces, async[i].consumes);
        if (node == STEP_NODE_NONE) return false;
        settle(graph, &async[i], node);
    }
    graph->async_count = 0;
    return true;
}

static void make_absolute(struct step_graph *graph, int64_t begin_ps) {
    struct step_root *roots = graph->roots.data;
    struct step_executor *executors = graph->executors.data;
    for (; graph->line_first_root < graph->root_count; graph->line_first_root++) {
        int64_t *begin = &roots[graph->line_first_root].begin_ps;
        *begin = (int64_t)((uint64_t)*begin + (uint64_t)begin_ps);
    }
    for (; graph->line_first_executor < graph->executor_count; graph->line_first_executor++) {
        int64_t *begin = &executors[graph->line_first_executor].begin_ps;
        *begin = (int64_t)((uint64_t)*begin + (uint64_t)begin_ps);
    }
}

bool step_graph_end_line(struct step_graph *graph, int64_t begin_ps) {
    const struct open_node *open = graph->open.data;
    while (graph->open_count) close_node(graph, &open[--graph->open_count]);
    make_absolute(graph, begin_ps);
    return add_async_nodes(graph);
}
