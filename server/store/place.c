#define _XOPEN_SOURCE 700  // realpath
#include "server/store/place.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/work.h"

enum { PLACE_CHILDREN_MAX = 1 << 16 };

static bool is_inside(const char *path, const char *root) {
    size_t size = strlen(root);
    while (size > 1 && root[size - 1] == '/') size--;
    if (size == 0 || strncmp(path, root, size) != 0) return false;
    return path[size] == '\0' || path[size] == '/' || size == 1;
}

// The resolved folder, on `arena`. NULL: *error is filled.
static char *resolve(const struct catalog *catalog, const char *path, struct arena *arena, struct error *error) {
    char *real = realpath(path, NULL);
    bool is_good = real && is_inside(real, catalog->root);
    char *folder = is_good ? arena_string(arena, bytes_of(real)) : NULL;
    free(real);
    if (folder) return folder;
    if (is_good)
        work_out_of_memory(error);
    else
        error_set(error, ERROR_NOT_FOUND, "There is no folder \"%.200s\" inside the log directory.", path);
    return NULL;
}

static char *last_part(char *path) {
    char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_xplane(const struct catalog *catalog, const char *folder) {
    struct arena scratch;
    arena_init(&scratch, WORK_ARENA_LIMIT_BYTES);
    struct session_files files;
    struct error ignored;
    bool found = session_files_list(folder, catalog->root, SESSION_PROFILES_OR_HLO, &scratch, &files, &ignored) &&
                 files.host_count > 0;
    arena_free(&scratch);
    return found;
}

bool place_find(const struct catalog *catalog, const struct session_place *place, struct arena *arena,
                struct catalog_session *session, struct error *error) {
    bool is_child = !place->session_path;
    const char *path = place->session_path;
    if (is_child) {
        if (strchr(place->name, '/'))
            return error_set(error, ERROR_NOT_FOUND, "There is no session \"%.160s\".", place->name);
        path = arena_printf(arena, "%s/%s", place->run_path, place->name);
    }
    if (!path) return work_out_of_memory(error);
    char *folder = resolve(catalog, path, arena, error);
    if (!folder) return false;
    char *name = arena_string(arena, bytes_of(place->name));
    if (!name) return work_out_of_memory(error);
    *session = (struct catalog_session){.name = name, .path = folder, .root = catalog->root};
    if (is_child || strcmp(last_part(folder), name) == 0) return true;
    return error_set(error, ERROR_NOT_FOUND, "The folder \"%.160s\" is not the session \"%.160s\".", folder, name);
}

static int by_name_reversed(const void *a, const void *b) {
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

static bool list_children(const struct catalog *catalog, const char *folder, struct arena *arena,
                          struct name_list *list, struct error *error) {
    *list = (struct name_list){arena_new(arena, const char *, PLACE_CHILDREN_MAX), 0};
    if (!list->names) return work_out_of_memory(error);
    DIR *directory = opendir(folder);
    if (!directory) return true;
    for (struct dirent *entry; (entry = readdir(directory)) && list->count < PLACE_CHILDREN_MAX;) {
        if (entry->d_name[0] == '.') continue;
        struct error ignored;
        const char *path = arena_printf(arena, "%s/%s", folder, entry->d_name);
        const char *child = path ? resolve(catalog, path, arena, &ignored) : NULL;
        char *name = arena_string(arena, bytes_of(entry->d_name));
        if (child && name && has_xplane(catalog, child)) list->names[list->count++] = name;
    }
    closedir(directory);
    qsort(list->names, list->count, sizeof list->names[0], by_name_reversed);
    return true;
}

bool place_names(const struct catalog *catalog, const struct session_place *place, struct arena *arena,
                 struct name_list *list, struct error *error) {
    bool is_child = !place->session_path;
    char *folder = resolve(catalog, is_child ? place->run_path : place->session_path, arena, error);
    if (!folder) {
        *list = (struct name_list){0};
        return error->code == ERROR_NOT_FOUND;
    }
    if (is_child) return list_children(catalog, folder, arena, list, error);
    *list = (struct name_list){arena_new(arena, const char *, 1), 0};
    if (!list->names) return work_out_of_memory(error);
    if (has_xplane(catalog, folder)) list->names[list->count++] = last_part(folder);
    return true;
}
