// Which step an event belongs to, as XProf finds it out (tsl/profiler/utils/group_events.cc and preprocess_xplane.cc in
// openxla/xla at 5a3e9fa3 and f8fbc68a).
//
//     thread 1   |-------- train 2 (root) -------|            root events start groups, in order of level and time;
//                   |-- ExecutorState --|                    an event's group is that of the first root that reaches
//                       A     P                              it: through nesting on its thread, or through a context,
//     thread 2                 `--> |- consumer -|           from what produced it (P) to what consumed it
//                                       A   F
//
// Only events with a say are nodes: roots, producers, consumers. They stand in the order of their line, so what a node
// encloses is the run of nodes after it, and reaching it is one sweep. A memory event belongs to the innermost node
// around it.
//
//     node     0   1   2   3 | 4   5 ...      subtree_end[1] = 3: nodes 1 and 2 are one
//     line     0 ............| 1 ....         context -> list of consuming nodes
//
// Does not look at device planes (their events get groups from here, not the other way round), nor at the queues of a
// TPU's runtime, nor at process ids of planes. The events of thread pools are left out: they have no length, so nothing
// is reached through them (XProf has code that makes regions of them; its release 2.24.2 does not connect them).
#pragma once

#include "analysis/base/error.h"
#include "analysis/profile/steps/context_table.h"
#include "analysis/profile/events/host_event.h"
#include "analysis/profile/steps/step_node.h"

struct step_graph {
    const struct metadata_kinds *stats;
    bool has_iterators;     // the plane names IteratorGetNext...: then executors lead to them
    bool has_tpu_executes;  // the plane names TpuExecuteOp: the same
    struct context_table contexts;
    // The line that is being read.
    struct growing_block open;  // nodes around the next event, outermost first
    size_t open_count;
    struct growing_block async;  // nodes to be that are not nested
    size_t async_count;
    size_t line_first_root, line_first_executor;
    // All lines.
    struct growing_block nodes, links;
    uint32_t node_count, link_count;  // link_count: how many contexts have their link
    struct growing_block roots, executors, pipelines;
    size_t root_count, executor_count, pipeline_count;
    bool has_loops;  // an executor with an iteration other than 0
    // Executors are many, and needed only where there are loops, which no file tells before: they are kept when this is
    // set, before the first event.
    bool keeps_executors;
};

// The contexts lie on `arena`. False when it is at its limit.
MUST_USE bool step_graph_init(struct step_graph *graph, const struct metadata_names *events,
                              const struct metadata_kinds *stats, struct arena *arena);
void step_graph_release(struct step_graph *graph);

// Adds an event of the line that is being read, in the order of the file. False when there is no memory.
MUST_USE bool step_graph_add(struct step_graph *graph, const struct host_event *event);

// The node that a memory event belongs to, when it is the next event of the line; STEP_NODE_NONE.
uint32_t step_graph_node_at(struct step_graph *graph, const struct host_event *event);

// Ends the line. `begin_ps` is its own start, which its events are relative to.
MUST_USE bool step_graph_end_line(struct step_graph *graph, int64_t begin_ps);

// Gives every context of the graph its link. False when there is no memory.
MUST_USE bool step_graph_link_contexts(struct step_graph *graph);

// Appends the lines of another graph of the same plane, read by another thread: its node i becomes *first_node + i.
// False when there is no memory.
MUST_USE bool step_graph_append(struct step_graph *graph, const struct step_graph *lines, uint32_t *first_node);

// A group, and the root event that started it.
struct step_group {
    uint64_t metadata_id;
    int64_t number;  // what the root calls itself: iter_num, step_num, else the group's id
    bool has_name;   // else it is known by its number alone (a loop's iteration)
    int64_t begin_ps, end_ps;
};

struct step_groups {
    struct step_group *groups;  // by id, from 0
    size_t count;
    int32_t *of_node;  // -1 for a node that no root reaches; owned by `memory`
    struct growing_block memory;
};

// Forms the groups. `groups` stands on `arena`. False when there is no memory.
MUST_USE bool step_graph_group(struct step_graph *graph, struct arena *arena, struct step_groups *groups);
void step_groups_release(struct step_groups *groups);
