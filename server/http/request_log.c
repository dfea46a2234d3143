#include "server/http/request_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"

enum { NOTE_BYTES = 64 };

struct request_log {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int to;
    bool is_over, has_ended;
    size_t size, left_out;  // bytes of `lines`; lines that found no room after these
    char lines[REQUEST_LOG_BYTES];
    char going[REQUEST_LOG_BYTES + NOTE_BYTES];  // the thread's own
};

// --- The thread ---

// What cannot be written is lost, as it would be to anybody.
static void write_all(int to, const char *text, size_t size) {
    while (size) {
        ssize_t written = write(to, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        size -= (size_t)written;
    }
}

// The lock is held. How many bytes go.
static size_t take_lines(struct request_log *log) {
    size_t size = log->size;
    memcpy(log->going, log->lines, size);
    if (log->left_out)
        size += (size_t)snprintf(log->going + size, NOTE_BYTES, "%zu line%s left out\n", log->left_out,
                                 log->left_out == 1 ? "" : "s");
    log->size = log->left_out = 0;
    return size;
}

static void *run(void *context) {
    struct request_log *log = context;
    pthread_mutex_lock(&log->lock);
    for (;;) {
        while (!log->size && !log->left_out && !log->is_over) pthread_cond_wait(&log->changed, &log->lock);
        size_t size = take_lines(log);
        if (!size) break;
        pthread_mutex_unlock(&log->lock);
        write_all(log->to, log->going, size);
        pthread_mutex_lock(&log->lock);
    }
    log->has_ended = true;
    pthread_cond_signal(&log->changed);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

// --- Beginning and end ---

static void release(struct request_log *log) {
    pthread_cond_destroy(&log->changed);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

struct request_log *request_log_new(int to) {
    struct request_log *log = memory_or_refusal(calloc(1, sizeof *log));
    if (!log) return NULL;
    log->to = to;
    pthread_mutex_init(&log->lock, NULL);
    steady_condition_init(&log->changed);
    if (pthread_create(&log->thread, NULL, run, log) == 0) return log;
    release(log);
    return NULL;
}

// False: it still writes.
static bool wait_for_the_last(struct request_log *log) {
    int64_t until_ms = steady_ms() + REQUEST_LOG_LAST_MS;
    pthread_mutex_lock(&log->lock);
    log->is_over = true;
    pthread_cond_signal(&log->changed);
    while (!log->has_ended && steady_wait(&log->changed, &log->lock, until_ms - steady_ms())) continue;
    bool has_ended = log->has_ended;
    pthread_mutex_unlock(&log->lock);
    return has_ended;
}

void request_log_free(struct request_log *log) {
    if (!log) return;
    if (!wait_for_the_last(log)) {
        pthread_detach(log->thread);
        return;
    }
    pthread_join(log->thread, NULL);
    release(log);
}

// --- Lines ---

static void append(struct request_log *log, const char *line, size_t size) {
    memcpy(log->lines + log->size, line, size);
    log->lines[log->size + size] = '\n';
    log->size += size + 1;
}

void request_log_add(struct request_log *log, const char *line) {
    size_t size = strlen(line);
    pthread_mutex_lock(&log->lock);
    bool has_room = !log->left_out && size < REQUEST_LOG_BYTES - log->size;
    if (has_room)
        append(log, line, size);
    else
        log->left_out++;
    pthread_cond_signal(&log->changed);
    pthread_mutex_unlock(&log->lock);
}
