// Who may load now, and who waits: so that nothing small waits behind what is large, and nothing behind a slow disk.
//
//     lane      what goes there                                      at once
//     made      from what is in memory already: an answer            `parallel`
//     small     a file of at most LOAD_SMALL_BYTES                   `parallel`
//     large     a larger one                                         `parallel`
//     urgent    all of it, for somebody who waits at a terminal      `parallel`
//     free      little memory, mostly waiting: an index              no bound
//
// A load that spends most of its time waiting for its storage is slow: it needs no core, and counts no longer in its
// lane. So there are as many slow loads as there are slow files, up to LOAD_SLOW_MAX of a lane and a place (a file
// system), and LOAD_SLOW_LARGE_MAX of large files, which take memory. While memory is tight (memory_room.h) a lane has
// one load at once, quick or slow.
//
// Those who ask, addresses, take turns: of those who wait, the one is first whose asker was let in longest ago, or of
// whom nothing else is under way or waits; so one that asks for a hundred things delays another by one load each time.
// Of one asker's, and of those who had no turn yet, whoever had a slot already is first, then whoever's place has the
// fewest loads under way, then who came first.
//
// A load may need other loads: its thread keeps one slot, which moves to the lane of what is loaded inside and back
// again. Nobody holds a slot and waits for another, so no two wait for each other. The owner's lock is held in all
// calls.
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "analysis/input/reading.h"

enum load_lane { LOAD_MADE, LOAD_SMALL, LOAD_LARGE, LOAD_URGENT, LOAD_FREE };
enum { LOAD_LANES = LOAD_FREE, LOAD_SMALL_BYTES = 4 << 20 };
enum { LOAD_SLOW_MAX = 128, LOAD_SLOW_LARGE_MAX = 16, LOAD_SLOTS_MAX = 256 };

// What is asked for.
struct load_wish {
    enum load_lane lane;
    uint64_t place;  // which file system, or bucket
};

struct load_slot {
    pthread_t holder;
    unsigned depth;  // loads of `holder` inside each other; 0: the slot is free
    struct load_wish wish;
    const void *asker;        // as of a reading
    uint64_t turn;            // a tick
    struct reading *reading;  // tells whether it is slow; NULL: it never is
    int64_t begun_ns, waited_ns;
};

struct load_waiter;

struct load_slots {
    pthread_mutex_t *lock;
    pthread_cond_t changed;
    unsigned parallel;
    struct load_waiter *first_waiter;
    uint64_t ticks;  // how often somebody came, or was let in
    struct load_slot slots[LOAD_SLOTS_MAX];
};

void load_slots_init(struct load_slots *slots, unsigned parallel, pthread_mutex_t *lock);
void load_slots_destroy(struct load_slots *slots);

// Waits for its turn. False: `reading` was stopped before it came, and there is nothing to leave. *outer is for
// load_slots_leave.
bool load_slots_enter(struct load_slots *slots, struct load_wish wish, const void *asker, struct reading *reading,
                      struct load_wish *outer);
void load_slots_leave(struct load_slots *slots, struct load_wish wish, const struct load_wish *outer);

// This thread waits for another thread's load, which may need its slot; *lent is for load_slots_resume.
void load_slots_lend(struct load_slots *slots, struct load_slot *lent);
void load_slots_resume(struct load_slots *slots, const struct load_slot *lent);

// Those who wait look whether they are still wanted.
void load_slots_wake(struct load_slots *slots);

struct load_counts {
    size_t running, slow, waiting;
};
struct load_counts load_slots_count(const struct load_slots *slots);
