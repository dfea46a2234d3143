// The Memory Viewer of one memory space of one program: everything its charts and its text show, in exact bytes.
//
//     module --> totals per space
//            --> trace of the space --> heap replay --> curve, spans, live set at the peak
//            --> indefinite allocations --------------> one row each, alive for the whole program
//
// A view borrows the module and lives on the caller's arena. It holds facts; words and units are the server's.
#pragma once

#include "analysis/hlo/wide_shapes.h"
#include "analysis/memory/heap_replay.h"
#include "analysis/memory/memory_totals.h"

// Which trace(s) to replay. XProf takes one trace of one temporary allocation of a space and fails when it touches
// several; of an indefinite allocation it shows the largest logical buffer, and none when all are empty. The exact view
// takes every temporary allocation of the space, every indefinite one in its whole size, and resolves nested tuples.
enum memory_view_scope { MEMORY_VIEW_EXACT, MEMORY_VIEW_AS_XPROF };

struct memory_buffer {    // one row: a bar at the peak, a block of the timeline
    uint32_t buffer;      // index into the module's buffers; HLO_NONE for an allocation that names none
    uint32_t allocation;  // index into the module's allocations, or HLO_NONE
    int64_t offset;       // inside the allocation
    int64_t size_bytes;
    int64_t unpadded_bytes;  // -1 when the shape is unknown
    uint32_t start_step, end_step;
    enum allocation_category category;
};

struct memory_view {
    const struct hlo_module *module;
    enum memory_view_scope scope;
    struct memory_totals totals;
    bool has_simulation;
    struct heap_replay replay;  // without the indefinite bytes; zeroed without a simulation
    int64_t indefinite_bytes;   // what the indefinite rows hold: added to every step of the curves
    int64_t indefinite_unpadded_bytes;
    struct memory_buffer *rows;  // indefinite allocations by index, then simulated buffers in program order
    uint32_t row_count;
    uint32_t indefinite_row_count;
    uint32_t *at_peak;  // rows live at the peak: the indefinite ones, then the others in program order
    uint32_t at_peak_count;
    uint32_t unsimulated_temporary_count;  // temporary allocations that no trace tells about:
    int64_t unsimulated_temporary_bytes;   // in the totals, not in the curve
    // How many bytes are live at the peak: indefinite_bytes + replay.peak_bytes; the same without padding, parameters
    // and outputs included.
    int64_t peak_bytes;
    int64_t peak_unpadded_bytes;
    int64_t padding_bytes;        // peak_bytes - peak_unpadded_bytes
    int64_t fragmentation_bytes;  // temporary allocations - the simulated peak; can be negative, see the notes
};

// Builds the view of `space` on `arena`. A space that holds nothing gives an empty view, not an error.
MUST_USE bool memory_view_build(const struct hlo_module *module, int64_t space, enum memory_view_scope scope,
                                struct arena *arena, struct memory_view *view, struct error *error);

// The ShapeProto of a logical buffer: a view; empty when its instruction is unknown.
struct bytes memory_view_shape(const struct hlo_module *module, uint32_t buffer, enum memory_view_scope scope);

// The same when the shape of the buffer's instruction is at hand; many buffers share what is found in `wide`.
struct bytes memory_view_shape_in(const struct hlo_buffer *buffer, struct bytes shape, enum memory_view_scope scope,
                                  struct wide_shapes *wide);
