// Threads that answer requests, so that whoever reads the connections never waits.
//
//     workers_take --> [ job, job, ... ] --> an idle thread, or a new one: job->work, then job->done
//                            ^------------- it may not load yet, and has to ---'
//
// A job begins at once while fewer than `prompt` are at work. After that a thread that has done its job takes the next
// one: jobs that end soon are done by a few threads, however many there are, so that processors are left for whoever
// reads the connections. When no job has begun for `patience_ms`, those at work are held up by something (a slow disk,
// a bucket), and one more begins: one of the idle threads watches for that. Most of those without work end after a
// while.
//
// A job has a place while it is at work: one where it may load, of which there are `places[WORKER_LOADS]`, or, when its
// address has no more of these, one where it only looks whether what is kept will do. If not, it waits for a place
// where it may load, and no thread waits with it. So what is quick to answer never stands behind what has to be worked
// out, not even behind what the same client has asked for.
//
// Of each kind an address has no more places than it leaves free for others: one alone gets half, two a third each, and
// whoever comes next finds some, until there are as many addresses as places. The job goes first of whose address the
// fewest are at work, and of these the oldest. Thread-safe.
#pragma once

#include <stdbool.h>

struct workers;

enum worker_place { WORKER_LOADS, WORKER_LOOKS, WORKER_PLACES };

// Belongs to whoever hands it in; the workers have done with it when they call `done`.
struct worker_job {
    struct worker_job *next;
    bool (*work)(void *context, bool may_load);  // false: it has to load, and might not
    void (*done)(void *context);
    void *context;
    unsigned *working;  // of WORKER_PLACES, how many jobs of the same address are there: counted here, under the lock
    bool has_to_load;   // to look is of no use
};

struct workers_rules {
    unsigned places[WORKER_PLACES], prompt, patience_ms;
};

// NULL: no memory.
struct workers *workers_new(const struct workers_rules *rules);

// Waits until all jobs are done. NULL is fine.
void workers_free(struct workers *workers);

// Waits until all jobs are done that were taken. Nobody hands in more meanwhile.
void workers_finish(struct workers *workers);

// False: there is no thread for it, and none that will have time.
bool workers_take(struct workers *workers, struct worker_job *job);
