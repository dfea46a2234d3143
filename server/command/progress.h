// What a command that takes its time says of it meanwhile: one line on the terminal's stderr, written again and again,
// and gone when the command has something else to say.
//
//     progress_begin ── a thread: after PROGRESS_PATIENCE_MS, and then ten times a second
//           reading ──> progress_text ──> "\r<line>"      as wide as the terminal, without escape sequences
//     progress_hide, progress_end ──> "\r       \r"
//
// Nothing is ever written where stderr is no terminal, or one that cannot go back in a line (TERM=dumb). The command
// tells where it is (progress_step), its work what is read (the reading). Functions take NULL for nobody to tell.
#pragma once

#include <pthread.h>

#include "server/text/progress_text.h"

enum { PROGRESS_PATIENCE_MS = 1000 };

struct progress {
    struct reading reading;  // of the command's work
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool has_thread, is_over;
    int64_t begun_ms, step_begun_ms;
    double bytes_per_s;
    uint64_t bytes_seen;
    size_t drawn_columns;  // of the line that stands there; 0: none
    const char *step;
    size_t done, all;
};

void progress_begin(struct progress *progress);

// Before the command ends, and before whatever is told at its end.
void progress_end(struct progress *progress);

// NULL of NULL.
struct reading *progress_reading(struct progress *progress);

// The command is at item `number` (from 1) of `all`; `step` says what an item is, and lasts as long as the progress.
void progress_step(struct progress *progress, const char *step, size_t number, size_t all);

// Takes the line away: something else is about to be written. It comes back while the work goes on.
void progress_hide(struct progress *progress);
