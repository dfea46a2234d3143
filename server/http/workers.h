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
//     urgent    WORKER_HURRIES                                        never behind loads
//     others    WORKER_LOADS --after `long_ms`--> WORKER_LOADS_LONG   held up by a slow disk, or waiting for a turn
//               WORKER_LOOKS --in vain--> the queue, for WORKER_LOADS
//
// A load that takes long gives its place up for one among the long ones, if its address may have one of these: so a
// load that is soon done stands behind few of those that are not.
//
// Of each kind an address has no more places than it leaves free for others: one alone gets half, two a third each, and
// whoever comes next finds some, until there are as many addresses as places. The job goes first of whose address the
// fewest are at work, and of these the oldest.
//
// Of the jobs that wait until they may load, and of the urgent ones, at most `waiting` each are kept, shared by
// addresses in the same way. One more is refused, for its client to come again: it would only keep a connection.
// Thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct workers;

enum worker_place { WORKER_LOADS, WORKER_LOADS_LONG, WORKER_HURRIES, WORKER_LOOKS, WORKER_PLACES };

// Whoever hands in jobs, an address. Counted by the workers, under their lock.
struct worker_asker {
    unsigned working[WORKER_PLACES];  // how many of its jobs are there
    unsigned waiting[WORKER_PLACES];  // and how many wait to get there
};

// Belongs to whoever hands it in; the workers have done with it when they call `done`.
struct worker_job {
    struct worker_job *next;                     // in the queue, or among those that load
    bool (*work)(void *context, bool may_load);  // false: it has to load, and might not
    void (*done)(void *context);
    void *context;
    struct worker_asker *asker;
    bool is_urgent, has_to_load;  // to look is of no use
    bool is_refused;              // when it is done: it was not, for too many wait
    enum worker_place place;
    int64_t since_ms;  // there
};

struct workers_rules {
    unsigned places[WORKER_PLACES], waiting, prompt, patience_ms, long_ms;
};

// NULL: no memory.
struct workers *workers_new(const struct workers_rules *rules);

// Waits until all jobs are done. NULL is fine.
void workers_free(struct workers *workers);

// Waits until all jobs are done that were taken. Nobody hands in more meanwhile.
void workers_finish(struct workers *workers);

// False: too many wait, or there is no thread for it and none that will have time.
bool workers_take(struct workers *workers, struct worker_job *job);
