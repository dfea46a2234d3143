// The names in a host plane that mean something to the Memory Profile, and one event with the stats that count.
//
//     metadata id --> kind (host_event_kind, host_stat_kind), by name, once a plane
//     XEvent { metadata id, offset, duration, stats* } --> struct host_event
//
// Names are those of tsl/profiler/utils/xplane_schema.cc and preprocess_xplane.cc (openxla/xla at 02e89dc4, 51ace0ea).
// As XProf reads them, a stat counts only with the type of value it should have: a text where a number is expected is
// 0. A fragmentation may also be an integer, which XProf takes for 0 and we for what it says.
#pragma once

#include "analysis/input/plane_head.h"
#include "analysis/profile/events/short_varint.h"
#include "proto/xplane_fields.h"

enum host_event_kind {
    HOST_EVENT_OTHER = 0,
    HOST_EVENT_ALLOCATION,
    HOST_EVENT_DEALLOCATION,
    HOST_EVENT_THREADPOOL,  // of a thread pool: starts, stops and records work, without any length
    HOST_EVENT_EXECUTOR,    // ExecutorState::Process
    HOST_EVENT_ITERATOR,    // IteratorGetNextOp::DoCompute
    HOST_EVENT_OPTIONAL_ITERATOR,
    HOST_EVENT_TPU_EXECUTE,
    HOST_EVENT_TRACE_CONTEXT,  // an old root event
    HOST_EVENT_BATCH_ROOT,     // ProcessBatch and its like: a root of level 2
    HOST_EVENT_SESSION_ROOT,   // BatchingSessionRun: level 1
    HOST_EVENT_TF_DATA,        // a function of an input pipeline: what it runs is no step
};

enum host_stat_kind {
    HOST_STAT_OTHER = 0,
    HOST_STAT_MEMORY_ORDINAL,  // index_on_host, device_ordinal
    HOST_STAT_ALLOCATOR_NAME,
    HOST_STAT_BYTES_RESERVED,
    HOST_STAT_BYTES_ALLOCATED,
    HOST_STAT_BYTES_AVAILABLE,
    HOST_STAT_FRAGMENTATION,
    HOST_STAT_PEAK_BYTES,
    HOST_STAT_REQUESTED_BYTES,
    HOST_STAT_ALLOCATION_BYTES,
    HOST_STAT_ADDRESS,
    HOST_STAT_TF_OP,
    HOST_STAT_GROUP_ID,
    HOST_STAT_REGION_TYPE,
    HOST_STAT_DATA_TYPE,
    HOST_STAT_SHAPE,
    HOST_STAT_PRODUCER_TYPE,  // _pt, _p: what this event starts elsewhere,
    HOST_STAT_PRODUCER_ID,
    HOST_STAT_CONSUMER_TYPE,  // _ct, _c: what started this event
    HOST_STAT_CONSUMER_ID,
    HOST_STAT_CONSUMER_PID,
    HOST_STAT_ROOT,     // _r: the level of a root event
    HOST_STAT_ASYNC,    // _a
    HOST_STAT_STEP_ID,  // id: of a function's run, not of a training step
    HOST_STAT_ITER_NUM,
    HOST_STAT_STEP_NUM,
    HOST_STAT_GRAPH_TYPE,
    HOST_STAT_KIND_COUNT,
};

// Kinds by metadata id. Ids are small and dense in what profilers write: those are looked up in an array.
struct metadata_kinds {
    uint8_t *dense;
    uint64_t dense_count;
    const struct metadata_names *names;  // for the ids beyond
    uint8_t *kinds;                      // by index in `names`
};

MUST_USE bool host_event_kinds(const struct metadata_names *events, struct arena *arena, struct metadata_kinds *kinds);
MUST_USE bool host_stat_kinds(const struct metadata_names *stats, struct arena *arena, struct metadata_kinds *kinds);

// Whether the plane holds one of TensorFlow's loop operations: then XProf does not group its events into steps.
bool host_event_has_loops(const struct metadata_names *events);

uint8_t metadata_kind_beyond(const struct metadata_kinds *kinds, uint64_t id);

static inline uint8_t metadata_kind(const struct metadata_kinds *kinds, uint64_t id) {
    return id < kinds->dense_count ? kinds->dense[id] : metadata_kind_beyond(kinds, id);
}

struct host_event {
    uint64_t metadata_id;
    enum host_event_kind kind;
    int64_t offset_ps, duration_ps;
    struct wire stats;  // where the stats begin: read them with host_stat.h
};

// The careful half of host_event_open.
bool host_event_open_any(struct bytes message, struct host_event *event);

// A varint field with this key, when it is the next one: it may be missing. False when it is none.
static inline bool host_event_next_varint(const uint8_t **at, const uint8_t *end, uint8_t key, uint64_t *value) {
    if (*at == end || **at != key) return true;
    *at = short_varint(*at + 1, value);
    return *at && *at <= end;
}

// The head as profilers write it: 08 id, 10 offset, 18 duration (each may be missing), then stats. False for any other
// spelling.
static inline bool host_event_open_short(struct bytes message, struct host_event *event) {
    enum { ID = XEVENT_METADATA_ID << 3, OFFSET = XEVENT_OFFSET_PS << 3, DURATION = XEVENT_DURATION_PS << 3 };
    const uint8_t *at = message.data, *end = message.data + message.size;
    uint64_t id = 0, offset = 0, duration = 0;
    if (at != end && *at == ID) {
        at++;
        if (!wire_short_varint(&at, &id) || at > end) return false;
    }
    if (!host_event_next_varint(&at, end, OFFSET, &offset) || !host_event_next_varint(&at, end, DURATION, &duration))
        return false;
    if (at != end && *at != (XEVENT_STATS << 3 | WIRE_LEN)) return false;
    *event = (struct host_event){.metadata_id = id,
                                 .offset_ps = (int64_t)offset,
                                 .duration_ps = (int64_t)duration,
                                 .stats = {.at = at, .end = end}};
    return true;
}

// The head of an XEvent: its fields up to the first stat, in the order protobuf writes them. False when its bytes are
// not a message.
static inline bool host_event_open(struct bytes message, const struct metadata_kinds *events,
                                   struct host_event *event) {
    if (!host_event_open_short(message, event) && !host_event_open_any(message, event)) return false;
    event->kind = (enum host_event_kind)metadata_kind(events, event->metadata_id);
    return true;
}
