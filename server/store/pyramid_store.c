#include "server/store/pyramid_store.h"

#include <stdlib.h>

static const size_t PYRAMID_ARENA_LIMIT_BYTES = (size_t)2 << 30;

struct loaded_pyramid {
    struct arena arena;
    struct timeline_pyramid pyramid;
};

static void destroy(void *data) {
    struct loaded_pyramid *loaded = data;
    arena_free(&loaded->arena);
    free(loaded);
}

static bool load(void *context, struct cache_value *value, struct error *error) {
    const struct memory_timeline *timeline = context;
    struct loaded_pyramid *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return work_out_of_memory(error);
    arena_init(&loaded->arena, PYRAMID_ARENA_LIMIT_BYTES);
    if (!timeline_pyramid_build(timeline, &loaded->arena, &loaded->pyramid)) {
        destroy(loaded);
        return work_out_of_memory(error);
    }
    *value = (struct cache_value){loaded, sizeof *loaded + loaded->arena.used_bytes, destroy};
    return true;
}

const struct timeline_pyramid *pyramid_store_get(struct work *work, const struct input_file *file,
                                                 const struct memory_profile *profile,
                                                 const struct memory_timeline *timeline, struct error *error) {
    const char *file_key = profile_store_key(work, file, error);
    if (!file_key) return NULL;
    const char *key = arena_printf(&work->arena, "pyramid %td %s", timeline - profile->timelines, file_key);
    if (!key) {
        work_out_of_memory(error);
        return NULL;
    }
    struct memory_timeline mine = *timeline;
    const struct loaded_pyramid *loaded = work_get(work, key, load, &mine, error);
    if (!loaded) return NULL;
    // The key is of the file as it is now, the profile may be of the one before.
    if (loaded->pyramid.event_count == timeline->count) return &loaded->pyramid;
    error_set(error, ERROR_UNREADABLE, "The file changed while it was being read; reload the page.");
    error_in_file(error, file->path, 0);
    return NULL;
}
