// The total and the peak of HBM if buffers had other sizes, or allocations were not there.
//
//     sizes of buffers --> indefinite allocations: the largest buffer of each
//                      --> temporaries: the heap simulator trace replayed with the new sizes, and packed again;
//                          today's + (packed then - packed today), never less than is live at the peak
//
// Temporaries that lie in outputs today (residents.h) go to the heap: on a TPU unless the changed program is as short
// of memory as this one; elsewhere where they find no room in outputs as the change leaves them (lodging.h). A program
// without a trace gets its temporaries scaled as their sizes. Borrows the module.
#pragma once

#include "analysis/advice/residents.h"
#include "analysis/advice/target.h"
#include "analysis/advice/temporaries.h"

struct what_if {
    const struct hlo_module *module;
    struct heap_events events;  // of HBM, as the exact memory view chooses them
    struct residents residents;
    struct heap_events unsqueezed_events, unsqueezed_roomy_events;  // of both: unsqueezed.h
    struct heap_replay replay;                                      // on a TPU with the residents on the heap
    int64_t heap_peak_bytes;                                        // without
    bool has_lodgers;        // outputs take temporaries whether memory is short or not: no TPU
    int64_t lodging_bytes;   // then: temporaries of the program as it is, as lodging.h and the packing make them
    int64_t lodging_visits;  // how much work that is
    int64_t total_bytes, peak_bytes;
    int64_t roomy_total_bytes;  // were the residents on the heap
    int64_t short_bytes;        // on a TPU: above so much they go to outputs; 0: not known
    int64_t temporary_bytes, indefinite_bytes;
    bool is_for_tpu;
    int64_t fast_bytes;  // of the target: target.h
    struct temporaries temporaries;
};

struct what_if_change {
    const int64_t *sizes;  // of each buffer
    const bool *is_gone;   // of each allocation; NULL: none
    bool has_room;         // the residents go to the heap in any case
};

struct what_if_result {
    int64_t total_bytes, peak_bytes, temporary_bytes, indefinite_bytes;
    const int64_t *sizes;                                     // of the change; NULL: as they are
    int64_t replayed_total_bytes, replayed_indefinite_bytes;  // as what_if_run left them
    int64_t lodging_visits;                                   // how much work lodging.h was
    int64_t room_bytes;    // in outputs, for what lives until these are written; 0 on a TPU
    int64_t empty_bytes;   // of outputs, with nothing in them
    int64_t lodged_bytes;  // the caller's: what of its own it put there
    int64_t small_bytes;   // live at the peak, in buffers that half of the fast memory would hold
    int64_t back_bytes;    // of the total, what XLA rematerializes today and is taken to come back
    int64_t out_bytes;     // what it rematerializes beside that: not in the total
};

// A number of bytes; what no chip will ever have is cut.
static inline int64_t what_if_bytes(double bytes) {
    double most = (double)((int64_t)1 << 60);
    return bytes >= most ? (int64_t)1 << 60 : bytes > -most ? (int64_t)bytes : -((int64_t)1 << 60);
}

// The temporaries are larger by so much, and with them total and peak.
static inline void what_if_add_temporary(struct what_if_result *result, int64_t bytes) {
    result->total_bytes += bytes;
    result->peak_bytes += bytes;
    result->temporary_bytes += bytes;
}

// `graph` learns the residents' leaves.
MUST_USE bool what_if_init(struct what_if *what_if, const struct hlo_module *module, const struct target *target,
                           struct program_graph *graph, struct arena *arena, struct error *error);

// What an allocation that one buffer fills at a time takes with other sizes.
int64_t what_if_resized(const struct hlo_module *module, const struct hlo_allocation *a, const int64_t *sizes);

// Works on `scratch`, which may be dropped afterwards.
MUST_USE bool what_if_run(const struct what_if *what_if, const struct what_if_change *change, struct arena *scratch,
                          struct what_if_result *result, struct error *error);
