#include "server/command/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"
#include "server/text/page.h"
#include "server/text/printable.h"

enum { TICK_MS = 100, STEPS_TO_JUDGE_BY = 2 };
static const double SPEED_NEWS = 0.1;  // how much the last tick weighs in what is known of the speed

static bool can_write(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

// --- The line (the lock is held) ---

static void erase(struct progress *progress) {
    if (progress->drawn_columns) fprintf(stderr, "\r%*s\r", (int)progress->drawn_columns, "");
    progress->drawn_columns = 0;
}

static void measure(struct progress *progress, const struct reading_state *reading) {
    double now = (double)(reading->all_bytes - progress->bytes_seen) * 1000 / TICK_MS;
    progress->bytes_seen = reading->all_bytes;
    progress->bytes_per_s += (now - progress->bytes_per_s) * (progress->bytes_per_s > 0 ? SPEED_NEWS : 1);
}

// By the steps, where there are enough to judge by; else by the bytes of this file.
static double seconds_left(const struct progress *progress, const struct reading_state *reading, int64_t now) {
    size_t done = progress->done ? progress->done - 1 : 0;
    if (done >= STEPS_TO_JUDGE_BY)
        return (double)(now - progress->step_begun_ms) / 1000 / (double)done * (double)(progress->all - done);
    if (progress->all > 1 || reading->wanted_bytes <= reading->read_bytes || progress->bytes_per_s < 1) return -1;
    return (double)(reading->wanted_bytes - reading->read_bytes) / progress->bytes_per_s;
}

static void draw(struct progress *progress) {
    struct progress_facts facts = {.step = progress->step, .done = progress->done, .all = progress->all};
    struct arena arena;
    arena_init(&arena, 0);
    facts.reading = reading_look(&progress->reading);
    measure(progress, &facts.reading);
    facts.seconds_left = seconds_left(progress, &facts.reading, steady_ms());
    const char *line = progress_text(&facts, page_width_of(STDERR_FILENO) - 1, &arena);
    size_t columns = printable_width(line);
    int behind = progress->drawn_columns > columns ? (int)(progress->drawn_columns - columns) : 0;
    if (columns) fprintf(stderr, "\r%s%*s\r", line, behind, "");
    if (columns) progress->drawn_columns = columns + (size_t)behind;
    arena_free(&arena);
}

// --- The thread ---

static void wait_a_tick(struct progress *progress) {
    (void)steady_wait(&progress->ended, &progress->lock, TICK_MS);
}

static void *run(void *context) {
    struct progress *progress = context;
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_over) {
        wait_a_tick(progress);
        if (!progress->is_over && steady_ms() - progress->begun_ms >= PROGRESS_PATIENCE_MS) draw(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void progress_begin(struct progress *progress) {
    *progress = (struct progress){.begun_ms = steady_ms()};
    reading_init(&progress->reading);
    pthread_mutex_init(&progress->lock, NULL);
    steady_condition_init(&progress->ended);
    if (can_write()) progress->has_thread = pthread_create(&progress->thread, NULL, run, progress) == 0;
}

void progress_end(struct progress *progress) {
    if (!progress || !progress->has_thread) return;
    pthread_mutex_lock(&progress->lock);
    progress->is_over = true;
    erase(progress);
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    progress->has_thread = false;
}

struct reading *progress_reading(struct progress *progress) {
    return progress ? &progress->reading : NULL;
}

void progress_step(struct progress *progress, const char *step, size_t number, size_t all) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    if (step != progress->step || number == 1) progress->step_begun_ms = steady_ms();
    progress->step = step;
    progress->done = number;
    progress->all = all;
    pthread_mutex_unlock(&progress->lock);
}

void progress_hide(struct progress *progress) {
    if (!progress || !progress->has_thread) return;
    pthread_mutex_lock(&progress->lock);
    erase(progress);
    pthread_mutex_unlock(&progress->lock);
}
