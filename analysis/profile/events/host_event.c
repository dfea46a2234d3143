#include "analysis/profile/events/host_event.h"

#include "proto/xplane_fields.h"

struct named_kind {
    const char *name;
    uint8_t kind;
};

static const struct named_kind event_names[] = {
    {"MemoryAllocation", HOST_EVENT_ALLOCATION},
    {"MemoryDeallocation", HOST_EVENT_DEALLOCATION},
    {"ThreadpoolListener::Record", HOST_EVENT_THREADPOOL},
    {"ThreadpoolListener::StartRegion", HOST_EVENT_THREADPOOL},
    {"ThreadpoolListener::StopRegion", HOST_EVENT_THREADPOOL},
    {"ExecutorState::Process", HOST_EVENT_EXECUTOR},
    {"IteratorGetNextOp::DoCompute", HOST_EVENT_ITERATOR},
    {"IteratorGetNextAsOptionalOp::DoCompute", HOST_EVENT_OPTIONAL_ITERATOR},
    {"TpuExecuteOp", HOST_EVENT_TPU_EXECUTE},
    {"TraceContext", HOST_EVENT_TRACE_CONTEXT},
    {"ProcessBatch", HOST_EVENT_BATCH_ROOT},
    {"OrbaxServing::ProcessBatch", HOST_EVENT_BATCH_ROOT},
    {"BatchingSessionRun", HOST_EVENT_SESSION_ROOT},
    {"InstantiatedCapturedFunction::Run", HOST_EVENT_TF_DATA},
    {"InstantiatedCapturedFunction::RunWithBorrowedArgs", HOST_EVENT_TF_DATA},
    {"InstantiatedCapturedFunction::RunInstantiated", HOST_EVENT_TF_DATA},
    {"InstantiatedCapturedFunction::RunAsync", HOST_EVENT_TF_DATA},
    {NULL, 0},
};

static const struct named_kind stat_names[] = {
    {"index_on_host", HOST_STAT_MEMORY_ORDINAL},
    {"device_ordinal", HOST_STAT_MEMORY_ORDINAL},
    {"allocator_name", HOST_STAT_ALLOCATOR_NAME},
    {"bytes_reserved", HOST_STAT_BYTES_RESERVED},
    {"bytes_allocated", HOST_STAT_BYTES_ALLOCATED},
    {"bytes_available", HOST_STAT_BYTES_AVAILABLE},
    {"fragmentation", HOST_STAT_FRAGMENTATION},
    {"peak_bytes_in_use", HOST_STAT_PEAK_BYTES},
    {"requested_bytes", HOST_STAT_REQUESTED_BYTES},
    {"allocation_bytes", HOST_STAT_ALLOCATION_BYTES},
    {"addr", HOST_STAT_ADDRESS},
    {"tf_op", HOST_STAT_TF_OP},
    {"group_id", HOST_STAT_GROUP_ID},
    {"region_type", HOST_STAT_REGION_TYPE},
    {"data_type", HOST_STAT_DATA_TYPE},
    {"shape", HOST_STAT_SHAPE},
    {"_pt", HOST_STAT_PRODUCER_TYPE},
    {"_p", HOST_STAT_PRODUCER_ID},
    {"_ct", HOST_STAT_CONSUMER_TYPE},
    {"_c", HOST_STAT_CONSUMER_ID},
    {"_pid", HOST_STAT_CONSUMER_PID},
    {"_r", HOST_STAT_ROOT},
    {"_a", HOST_STAT_ASYNC},
    {"id", HOST_STAT_STEP_ID},
    {"iter_num", HOST_STAT_ITER_NUM},
    {"step_num", HOST_STAT_STEP_NUM},
    {"graph_type", HOST_STAT_GRAPH_TYPE},
    {NULL, 0},
};

static const char *const loop_names[] = {"ParallelForOp", "ForeverOp", "WhileOp-EvalCond", "WhileOp-StartBody",
                                         "ForOp"};

static uint8_t kind_of_name(const struct named_kind *table, struct bytes name) {
    for (; table->name; table++) {
        if (bytes_equal(name, bytes_of(table->name))) return table->kind;
    }
    return 0;
}

static uint64_t dense_limit(const struct metadata_names *names) {
    return 4 * (uint64_t)names->count + 64;
}

static bool learn(const struct metadata_names *names, const struct named_kind *table, struct arena *arena,
                  struct metadata_kinds *kinds) {
    *kinds = (struct metadata_kinds){.names = names, .dense_count = dense_limit(names)};
    kinds->dense = arena_new(arena, uint8_t, (size_t)kinds->dense_count);
    kinds->kinds = arena_new(arena, uint8_t, names->count);
    if (!kinds->dense || !kinds->kinds) return false;
    for (uint32_t i = 0; i < names->count; i++) {
        uint64_t id = (uint64_t)names->ids[i];
        kinds->kinds[i] = kind_of_name(table, names->names[i]);
        if (id < kinds->dense_count && id_map_get(&names->by_id, names->ids[i]) == i)
            kinds->dense[id] = kinds->kinds[i];
    }
    return true;
}

bool host_event_kinds(const struct metadata_names *events, struct arena *arena, struct metadata_kinds *kinds) {
    return learn(events, event_names, arena, kinds);
}

bool host_stat_kinds(const struct metadata_names *stats, struct arena *arena, struct metadata_kinds *kinds) {
    return learn(stats, stat_names, arena, kinds);
}

bool host_event_has_loops(const struct metadata_names *events) {
    for (size_t i = 0; i < sizeof loop_names / sizeof loop_names[0]; i++) {
        if (metadata_has_name(events, bytes_of(loop_names[i]))) return true;
    }
    return false;
}

uint8_t metadata_kind_beyond(const struct metadata_kinds *kinds, uint64_t id) {
    uint32_t index = id_map_get(&kinds->names->by_id, (int64_t)id);
    return index == ID_MAP_NONE ? 0 : kinds->kinds[index];
}

bool host_event_open_any(struct bytes message, struct host_event *event) {
    struct wire w = wire_open(message);
    struct wire_field field;
    *event = (struct host_event){.stats = w};
    while (wire_next(&w, &field) && field.number != XEVENT_STATS) {
        event->stats = w;
        if (field.type != WIRE_VARINT) continue;
        if (field.number == XEVENT_METADATA_ID) event->metadata_id = field.value;
        if (field.number == XEVENT_OFFSET_PS) event->offset_ps = (int64_t)field.value;
        if (field.number == XEVENT_DURATION_PS) event->duration_ps = (int64_t)field.value;
    }
    return !w.fault;
}
