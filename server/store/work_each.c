#include "server/store/work_each.h"

#include <stdlib.h>

#include "analysis/base/parallel.h"
#include "analysis/base/refused_memory.h"

struct crew {
    struct work *first;  // of worker 0
    struct work others[PARALLEL_EACH_MAX - 1];
    void (*run)(struct work *mine, void *context, size_t item);
    void *context;
};

static void crew_release(void *thing) {
    struct crew *crew = thing;
    for (size_t i = 0; i < PARALLEL_EACH_MAX - 1; i++) work_free(&crew->others[i]);
    free(crew);
}

static struct crew *crew_new(struct work *work) {
    struct crew *crew = memory_or_refusal(calloc(1, sizeof *crew));
    if (!crew) return NULL;
    crew->first = work;
    for (size_t i = 0; i < PARALLEL_EACH_MAX - 1; i++) work_init_for(&crew->others[i], work);
    return work_defer(work, crew_release, crew) ? crew : NULL;
}

static void run_item(void *context, size_t item, size_t worker) {
    struct crew *crew = context;
    crew->run(worker ? &crew->others[worker - 1] : crew->first, crew->context, item);
}

bool work_each(struct work *work, void (*run)(struct work *mine, void *context, size_t item), void *context,
               size_t count) {
    if (count == 1) run(work, context, 0);
    if (count <= 1) return true;
    struct crew *crew = crew_new(work);
    if (!crew) return false;
    crew->run = run;
    crew->context = context;
    parallel_each(run_item, crew, count);
    return true;
}
