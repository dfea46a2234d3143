#include "server/http/route.h"

#include <string.h>

const struct route *route_find(struct routes routes, const char *path) {
    size_t size = strlen(path);
    while (size && path[size - 1] == '/') size--;
    for (size_t i = 0; i < routes.count; i++) {
        const struct route *row = &routes.rows[i];
        if (strlen(row->path) == size && memcmp(row->path, path, size) == 0) return row;
    }
    return NULL;
}
