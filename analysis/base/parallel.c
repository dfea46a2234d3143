#include "analysis/base/parallel.h"

#include <pthread.h>
#include <stdbool.h>

struct parallel_part {
    void (*run)(void *context, size_t index);
    void *context;
    size_t index;
    pthread_t thread;
    bool has_thread;
};

static void *run_part(void *argument) {
    const struct parallel_part *part = argument;
    part->run(part->context, part->index);
    return NULL;
}

void parallel_run(void (*run)(void *context, size_t index), void *context, size_t count) {
    struct parallel_part parts[PARALLEL_MAX];
    for (size_t i = 1; i < count && i < PARALLEL_MAX; i++) {
        parts[i] = (struct parallel_part){.run = run, .context = context, .index = i};
        parts[i].has_thread = pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) == 0;
    }
    if (count) run(context, 0);
    for (size_t i = 1; i < count && i < PARALLEL_MAX; i++) {
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
        else
            run(context, i);
    }
}
