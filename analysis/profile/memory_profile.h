// The Memory Profile of one host: what its allocators did while the profiler watched, event by event, in exact bytes.
//
//     /host:CPU   line (thread) 1   ..A...A..F....     A MemoryAllocation, F MemoryDeallocation: each tells the state
//                 line (thread) 2   ....A....A..F.     of its allocator after it (heap, stack, free, fragmentation)
//                      |  split by memory id, merged in true time order
//                      v
//     memory_timeline "GPU_0_bfc"   time_ps  [ t0 t1 t2 ... ]   one column a fact, one row an event
//                                   heap     [ h0 h1 h2 ... ]
//                                   site     [  3  3  7 ... ] -> sites[3] { op, region, data type, shape, sizes }
//                                   partner  [  2  -  0 ... ] -> the free of an allocation, the allocation of a free
//
// An allocation site is what XProf merges into one row of its breakdown table: op, region type, data type, shape,
// requested and allocated bytes. Events are many, sites few, so texts and sizes stand there once.
//
// Times are picoseconds since the earliest line of the plane started (XProf's are relative to each event's own line,
// which is the same where all lines start together). Steps are XProf's (step_graph.h), completed in time order as XProf
// completes them: an event without a step belongs to the one after the last that was known.
//
// Does not read HLO, knows no page. Immutable after reading; may be shared between threads.
#pragma once

#include "analysis/input/byte_source.h"
#include "analysis/profile/events/allocation_site.h"
#include "analysis/profile/events/memory_columns.h"
#include "analysis/profile/events/module_runs.h"

// What XProf reads off the events in the order of the file (xprof/convert/xplane_to_memory_profile.cc,
// UpdateProfileSummary, at 26fa5aac): its peak is the last of equal ones in this order.
struct memory_file_order {
    uint32_t peak;  // row; MEMORY_EVENT_NONE when no event uses 0 bytes or more
    uint32_t last;  // row
};

// One memory id (an allocator, or a device's ordinal), its events in time order.
struct memory_timeline {
    struct bytes memory_id;
    uint32_t count;
    int64_t *time_ps;
    int64_t *heap_bytes;    // allocator's state after the event: bytes_allocated,
    int64_t *stack_bytes;   // bytes_reserved,
    int64_t *free_bytes;    // bytes_available,
    int64_t *peak_bytes;    // peak_bytes_in_use: over the allocator's lifetime, so far
    double *fragmentation;  // 0 to 1: 1 - largest free block / free; NaN when nothing is free
    uint64_t *address;
    int64_t *step;
    uint32_t *site;     // as the event itself tells; a free tells sizes only (memory_timeline_site knows more)
    uint32_t *partner;  // row of the matching free or allocation; MEMORY_EVENT_NONE
    uint32_t *thread;   // index into the profile's threads
    uint8_t *flags;     // memory_event_flag
    uint32_t reused_address_count;  // allocations at an address whose last allocation was never seen freed
    struct memory_file_order file_order;
};

// A step as the profiler's root events tell it: a training step, or a function that ran outside any.
struct profile_step {
    int64_t id;         // XProf's group id
    struct bytes name;  // "train 2"
    int64_t begin_ps, end_ps;
};

struct memory_profile {
    bool has_host_plane;
    struct memory_timeline *timelines;  // sorted by memory id
    size_t timeline_count;
    size_t highest_timeline;  // the one that uses most at its peak; the first of equal ones
    struct allocation_sites sites;
    struct memory_thread *threads;
    uint32_t thread_count;
    struct profile_step *steps;  // by id
    size_t step_count;
    struct module_run *module_runs;  // in file order
    size_t module_run_count;
    bool lines_start_together;      // then time order is XProf's order
    uint64_t event_count;           // memory events, over all timelines
    uint64_t other_event_count;     // what else the host plane holds; 0 when it was not looked at
    uint64_t left_out_count;        // events that are too long to be any, or no message: shown nowhere
    struct error fault;             // ERROR_NONE for a file that is whole: what stands before the fault is here
    struct memory_columns columns;  // what the timelines' columns are parts of: owned, outside of the arena
};

// Reads the profile in one pass over the host plane's events. All but the columns is on `arena`. A file without a host
// plane or without memory events gives a profile without timelines. A file that was cut or damaged gives the events
// before the fault, and the fault. False, *error filled: nothing could be read, or a limit was passed.
MUST_USE bool memory_profile_read(struct byte_source *source, struct arena *arena, struct memory_profile *profile,
                                  struct error *error);

// Frees the columns; the rest goes with the arena.
void memory_profile_free(struct memory_profile *profile);

// What the columns hold, for a cache to charge.
size_t memory_profile_column_bytes(const struct memory_profile *profile);

// What an event allocated or freed: a free whose allocation was seen is known by it.
static inline const struct allocation_site *memory_timeline_site(const struct memory_profile *profile,
                                                                 const struct memory_timeline *timeline, uint32_t row) {
    bool is_free = timeline->flags[row] & MEMORY_EVENT_IS_FREE;
    uint32_t known = is_free && timeline->partner[row] != MEMORY_EVENT_NONE ? timeline->partner[row] : row;
    return &profile->sites.sites[timeline->site[known]];
}

static inline bool memory_timeline_is_free(const struct memory_timeline *timeline, uint32_t row) {
    return timeline->flags[row] & MEMORY_EVENT_IS_FREE;
}

// Stack and heap together: what the peak is the maximum of.
static inline int64_t memory_timeline_used_bytes(const struct memory_timeline *timeline, uint32_t row) {
    return (int64_t)((uint64_t)timeline->heap_bytes[row] + (uint64_t)timeline->stack_bytes[row]);
}

// The timeline of a memory id; NULL when there is none.
const struct memory_timeline *memory_profile_timeline(const struct memory_profile *profile, struct bytes memory_id);

// The first row at or after a time; count when there is none.
uint32_t memory_timeline_row_at(const struct memory_timeline *timeline, int64_t time_ps);
