// Could a request still be served? What counts is the largest free block, not all that is free.
//
//     free               |####..##.....####|  56 MiB free, the largest block 16 MiB: a request of 20 MiB fails
//
//     events    A F A A A                          F F F     A request that fails leaves no event. But TensorFlow tries
//     time      ---------|<------- 10 s -------->|------     again for ten seconds before it gives up, and where one
//                        silence: a moment                   thread feeds the allocator, it falls silent meanwhile.
//
// A silence about as long as that is a stall when a request as large as the largest one seen would not have fitted into
// the largest free block. Any other long silence is a pause, which says nothing about memory by itself (a slow input, a
// sleep), unless somebody asked for more than was ever asked for. What was asked for is known in neither case; if it
// failed, it was more than the largest free block.
//
// The largest free block is free x (1 - fragmentation). Free counts what the allocator may still take from its device,
// fragmentation only what it took already, so the block is exact once it took all, and it does before a request fails.
//
// Silences of one thread while others go on are not found.
#pragma once

#include "analysis/profile/memory_profile.h"

#define PRESSURE_PICOSECONDS INT64_C(1000000000000)
#define PRESSURE_SILENCE_PS (9 * PRESSURE_PICOSECONDS)         // shortest silence that is a moment
#define PRESSURE_STALL_LONGEST_PS (15 * PRESSURE_PICOSECONDS)  // what comes after the failure takes its time
#define PRESSURE_RETRY_PS (10 * PRESSURE_PICOSECONDS)          // how long TensorFlow tries
#define PRESSURE_RETRY_LONGEST_PS (11 * PRESSURE_PICOSECONDS)  // with what follows until the next event

enum { MEMORY_PRESSURE_MAX_MOMENTS = 50 };

enum pressure_state {
    PRESSURE_UNKNOWN,  // no event tells free bytes
    PRESSURE_ROOMY,    // a request as large as the largest one seen would always have fitted
    PRESSURE_TIGHT,    // it would not have, at some moment
    PRESSURE_FAILED,   // there are stalls
};

enum pressure_moment_kind { PRESSURE_STALL, PRESSURE_PAUSE };

struct pressure_moment {
    enum pressure_moment_kind kind;
    uint32_t row;               // the event before the silence: free bytes and fragmentation are this one's
    int64_t time_ps, until_ps;  // the silence
    bool is_open;               // no event ends it: the profile does
    bool is_retry_long;         // it lasts just as long as TensorFlow tries
    int64_t largest_free_bytes;
    int64_t step;
    struct bytes step_name;  // "" when no root event covers the silence
};

struct memory_pressure {
    enum pressure_state state;
    uint32_t tightest;  // the first event with the smallest largest free block; MEMORY_EVENT_NONE when unknown
    int64_t tightest_bytes;
    uint32_t largest_request;  // the first allocation of the largest allocated_bytes; MEMORY_EVENT_NONE for none
    int64_t largest_request_bytes;
    uint32_t tight_events;            // after which the largest request would not have fitted
    struct pressure_moment *moments;  // in order of time
    uint32_t moment_count, left_out;  // more of them
    uint32_t stall_count;             // those left out too, as in the next two
    uint32_t stall_retry_count;       // of them, as long as TensorFlow tries
    int64_t stall_least_bytes;        // the smallest largest free block of a stall: each request was above that
};

MUST_USE bool memory_pressure_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                   struct arena *arena, struct memory_pressure *pressure, struct error *error);
