#include "analysis/input/folder.h"

#include <stdlib.h>
#include <string.h>

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const struct folder_entry *)a)->name, ((const struct folder_entry *)b)->name);
}

void folder_sort(struct folder *folder) {
    if (folder->entry_count > 1) qsort(folder->entries, folder->entry_count, sizeof *folder->entries, compare_entries);
}

char *folder_join(struct arena *arena, const char *path, const char *name) {
    bool has_slash = bytes_ends_with(bytes_of(path), BYTES("/"));
    return arena_printf(arena, "%s%s%s", path, has_slash ? "" : "/", name);
}

bool folder_is_below(const char *path, const char *root) {
    size_t size = strlen(root);
    if (size > 0 && root[size - 1] == '/') size--;
    return strncmp(path, root, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

const char *folder_last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
