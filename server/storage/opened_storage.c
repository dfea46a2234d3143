#include "server/storage/opened_storage.h"

#include <stdlib.h>

#include "analysis/input/local_storage.h"
#include "server/storage/object_storage.h"

static const char *from_process(const char *name) {
    return getenv(name);
}

static bool open_bucket(struct opened_storage *opened, const char *url, struct error *error) {
    static const struct object_storage_limits limits = {
        .cache_bytes = 64 << 20, .patience = {.connect_s = 10, .silence_s = 20, .deadline_s = 60}};
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

bool opened_storage_begin(struct opened_storage *opened, const char *path, struct error *error) {
    *opened = (struct opened_storage){.storage = local_storage(), .path = path};
    if (!path || !strstr(path, "://")) return true;
    opened->address = without_query(path);
    if (opened->address) opened->path = opened->address;
    return open_bucket(opened, path, error);
}

void opened_storage_follow_links(struct opened_storage *opened) {
    if (!opened->objects) opened->storage = local_storage_following();
}

void opened_storage_end(struct opened_storage *opened) {
    object_storage_close(opened->objects);
    free(opened->address);
    *opened = (struct opened_storage){0};
}
