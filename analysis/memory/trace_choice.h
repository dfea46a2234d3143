// Which heap simulator events tell about a memory space.
//
// XProf takes one trace: that of a temporary allocation of the space, else the one with most events about it
// (GetHeapSimulatorTraceId, xprof/convert/hlo_proto_to_memory_visualization_utils.cc in openxla/xprof a27d00aa). The
// compiler normally makes just one. Where a space has several temporary allocations with traces of their own, the
// exact view merges them: the longest trace is the spine, and an event of another trace is placed where the spine
// reaches the same instruction.
#pragma once

#include "analysis/memory/heap_replay.h"

// XProf's choice: index into module->traces, or HLO_NONE.
uint32_t trace_choose_as_xprof(const struct hlo_module *module, int64_t space);

// Every trace about the space, each buffer once. `events` is empty when there is none.
MUST_USE bool trace_choose_exact(const struct hlo_module *module, int64_t space, struct arena *arena,
                                 struct heap_events *events, struct error *error);

// The events of one trace.
struct heap_events trace_events(const struct hlo_module *module, uint32_t trace);
