// Threads that answer requests, so that whoever reads the connections never waits.
//
//     workers_take --> [ job, job, ... ] --> an idle thread, or a new one: job->work, then job->done
//
// A job begins at once while fewer than `prompt` are at work. After that a thread that has done its job takes the next
// one: jobs that end soon are done by a few threads, however many there are, so that processors are left for whoever
// reads the connections. When no job has begun for `patience_ms`, those at work are held up by something (a slow disk,
// a bucket), and one more begins, up to `threads_max`: one of the idle threads watches for that. Most of those without
// work end after a while.
//
// When all are busy the oldest job goes first of whose address fewer than `share` jobs are under way: one that fills
// the server with slow questions leaves threads for the others. Thread-safe.
#pragma once

#include <stdbool.h>

struct workers;

// Belongs to whoever hands it in; the workers have done with it when they call `done`.
struct worker_job {
    struct worker_job *next;
    void (*work)(void *context);
    void (*done)(void *context);
    void *context;
    unsigned *working;  // how many jobs of the same address are under way: counted here, under the workers' lock
};

struct workers_rules {
    unsigned threads_max, share, prompt, patience_ms;
};

// NULL: no memory.
struct workers *workers_new(const struct workers_rules *rules);

// Waits until all jobs are done. NULL is fine.
void workers_free(struct workers *workers);

// Waits until all jobs are done that were taken. Nobody hands in more meanwhile.
void workers_finish(struct workers *workers);

// False: there is no thread for it, and none that will have time.
bool workers_take(struct workers *workers, struct worker_job *job);
