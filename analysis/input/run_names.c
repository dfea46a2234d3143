#include "analysis/input/run_names.h"

static struct bytes parent_of(struct bytes path) {
    while (path.size > 0 && path.data[path.size - 1] != '/') path.size--;
    if (path.size > 0) path.size--;
    return path;
}

static struct bytes last_name(struct bytes path) {
    size_t skipped = path.size ? parent_of(path).size + 1 : 0;
    return path.size > skipped ? (struct bytes){path.data + skipped, path.size - skipped} : path;
}

// The part of `path` below the root; empty for the root and what lies above it.
static struct bytes below_root(const char *root, struct bytes path) {
    size_t root_size = strlen(root), skipped = root_size == 1 ? 1 : root_size + 1;  // "/" has its slash already
    return path.size > skipped ? (struct bytes){path.data + skipped, path.size - skipped} : (struct bytes){0};
}

bool run_names_is_run_folder(const char *path) {
    return bytes_ends_with(parent_of(bytes_of(path)), BYTES("/plugins/profile"));
}

char *run_names_make(const char *root, const char *path, struct arena *arena) {
    struct bytes whole = bytes_of(path), own = last_name(whole), below = below_root(root, whole);
    if (!run_names_is_run_folder(path)) return arena_string(arena, below.size ? below : own);
    below = below_root(root, parent_of(parent_of(parent_of(whole))));
    if (below.size == 0) return arena_string(arena, own);
    return arena_printf(arena, "%.*s/%.*s", (int)below.size, (const char *)below.data, (int)own.size,
                        (const char *)own.data);
}
