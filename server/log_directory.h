// A first look at --logdir before serving: only whether it is there and may be read. The scan comes with the first
// request, so that the start takes no longer for a large directory.
#pragma once

#include <pthread.h>

#include <stdbool.h>
#include <stddef.h>

#include "server/storage/opened_storage.h"

// False: `problem` is one sentence that says what to do.
bool log_directory_check(const char *path, const struct storage_settings *settings, char *problem, size_t problem_size);

// The same while the server starts: on a slow network file system a look takes longer than one waits for a start.
//
//     begin: a thread looks     known within LOG_DIRECTORY_PATIENCE_MS: good, or the reason before anything is served
//                               later: the server runs meanwhile; a place that is not there ends it by SIGTERM
enum { LOG_DIRECTORY_PATIENCE_MS = 30, LOG_DIRECTORY_PROBLEM_BYTES = 512 };

struct log_directory_look {
    const char *path;  // NULL: there is nothing to look at
    const struct storage_settings *settings;
    pthread_mutex_t lock;
    pthread_cond_t known;
    pthread_t thread;
    bool has_thread, is_known, is_bad, is_serving;
    char problem[LOG_DIRECTORY_PROBLEM_BYTES];
};

// SIGTERM is blocked. False: it is known to be no place to read from, and `problem` says why.
bool log_directory_look_begin(struct log_directory_look *look, const char *path,
                              const struct storage_settings *settings);

// Waits for the look, when no more requests are served. False as above.
bool log_directory_look_end(struct log_directory_look *look);
