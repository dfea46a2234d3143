#include "server/storage/opened_storage.h"

#include <stdlib.h>

#include "analysis/input/local_storage.h"
#include "server/storage/object_storage.h"

static const char *from_process(const char *name) {
    return getenv(name);
}

// Nothing is ever written where profiles are read.
static bool is_apart(const char *logdir, const char *cache, struct error *error) {
    struct arena scratch;
    struct error ignored;
    if (!cache) return true;
    arena_init(&scratch, 0);
    const char *outer = storage_resolve(local_storage(), logdir, &scratch, &ignored);
    const char *inner = storage_resolve(local_storage(), cache, &scratch, &ignored);
    bool is_inside = outer && inner && folder_is_below(inner, outer);
    arena_free(&scratch);
    return !is_inside ||
           error_in(error, ERROR_BAD_REQUEST, cache, ERROR_WHOLE_FILE,
                    "is in the log directory, where nothing is written; give --disk_cache another folder");
}

static bool open_bucket(struct opened_storage *opened, const char *url, const struct storage_settings *settings,
                        struct error *error) {
    const struct object_storage_limits limits = {.cache_bytes = (size_t)settings->cache_mib << 20,
                                                 .disk_cache = settings->disk_cache,
                                                 .disk_cache_bytes = (uint64_t)settings->disk_cache_mib << 20,
                                                 .patience = {.connect_s = 10, .silence_s = 20, .deadline_s = 60}};
    opened->objects = object_storage_open(url, from_process, &limits, error);
    if (opened->objects) opened->storage = object_storage_of(opened->objects);
    return opened->objects;
}

// The address without what follows the file's name. NULL: it is as it should be, or there is no memory.
static char *without_query(const char *path) {
    bool is_address = strncmp(path, "https://", 8) == 0 || strncmp(path, "http://", 7) == 0;
    size_t size = strcspn(path, "?#");
    return is_address && path[size] ? strndup(path, size) : NULL;
}

bool opened_storage_begin(struct opened_storage *opened, const char *path, const struct storage_settings *settings,
                          struct error *error) {
    *opened = (struct opened_storage){.storage = local_storage(), .path = path};
    if (!path) return true;
    if (!strstr(path, "://")) return is_apart(path, settings->disk_cache, error);
    opened->address = without_query(path);
    if (opened->address) opened->path = opened->address;
    return open_bucket(opened, path, settings, error);
}

void opened_storage_follow_links(struct opened_storage *opened) {
    if (!opened->objects) opened->storage = local_storage_following();
}

void opened_storage_end(struct opened_storage *opened) {
    object_storage_close(opened->objects);
    free(opened->address);
    *opened = (struct opened_storage){0};
}
