#include "analysis/input/run_names.h"

#include <stdlib.h>

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

// Reverse by name; of equal names the run folder first, then by path.
static int compare_sessions(const void *a, const void *b) {
    const struct catalog_session *left = a, *right = b;
    int order = strcmp(right->name, left->name);
    if (order) return order;
    bool left_runs = run_names_is_run_folder(left->path), right_runs = run_names_is_run_folder(right->path);
    return left_runs != right_runs ? right_runs - left_runs : strcmp(left->path, right->path);
}

static bool rename_session(struct catalog_session *session, struct arena *arena) {
    char *longer = arena_printf(arena, "./%s", session->name);
    if (longer) session->name = longer;
    return longer != NULL;
}

// Renames all but the first of equal names in the sorted list.
static bool rename_duplicates(struct catalog *catalog, struct arena *arena, bool *renamed) {
    const char *taken = NULL;
    *renamed = false;
    for (size_t i = 0; i < catalog->session_count; i++) {
        struct catalog_session *session = &catalog->sessions[i];
        bool is_taken = taken && strcmp(taken, session->name) == 0;
        taken = session->name;
        if (is_taken && !rename_session(session, arena)) return false;
        *renamed = *renamed || is_taken;
    }
    return true;
}

bool run_names_order(struct catalog *catalog, struct arena *arena) {
    bool renamed = true;
    while (renamed) {
        if (catalog->session_count > 1)
            qsort(catalog->sessions, catalog->session_count, sizeof *catalog->sessions, compare_sessions);
        if (!rename_duplicates(catalog, arena, &renamed)) return false;
    }
    return true;
}
