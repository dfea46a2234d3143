#include "server/store/place.h"

#include <stdlib.h>
#include <string.h>

#include "server/store/work.h"

enum { PLACE_CHILDREN_MAX = 1 << 16 };

// The resolved folder, on `arena`. NULL: *error is filled. What lies outside of the log directory is not there, and
// nothing else is said of it.
static const char *resolve(const struct catalog *catalog, const char *path, struct arena *arena, struct error *error) {
    const char *folder = storage_resolve(catalog->storage, path, arena, error);
    if (folder && folder_is_below(folder, catalog->root)) return folder;
    bool is_inside = folder_is_below(path, catalog->root) && !strstr(path, "/..");
    if (!folder && error->code != ERROR_NOT_FOUND && is_inside) return NULL;
    error_set(error, ERROR_NOT_FOUND, "There is no folder \"%.200s\" inside the log directory.", path);
    return NULL;
}

// Whether the folder has profiles. False: it cannot be told.
static bool has_xplane(const struct catalog *catalog, const char *folder, bool *found, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, WORK_ARENA_LIMIT_BYTES);
    struct session_files files;
    struct input_place place = {catalog->storage, folder, catalog->root};
    bool is_told = session_files_list(&place, SESSION_PROFILES_OR_HLO, &scratch, &files, error);
    *found = is_told && files.host_count > 0;
    arena_free(&scratch);
    return is_told || error->code == ERROR_NOT_FOUND;
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
    const char *folder = resolve(catalog, path, arena, error);
    if (!folder) return false;
    char *name = arena_string(arena, bytes_of(place->name));
    if (!name) return work_out_of_memory(error);
    *session = (struct catalog_session){.name = name, .place = {catalog->storage, folder, catalog->root}};
    if (is_child || strcmp(folder_last_name(folder), name) == 0) return true;
    return error_set(error, ERROR_NOT_FOUND, "The folder \"%.160s\" is not the session \"%.160s\".", folder, name);
}

static int by_name_reversed(const void *a, const void *b) {
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

// As has_xplane, of an entry of the folder; one that is hidden, or leads out of the log directory, has none.
static bool child_has_xplane(const struct catalog *catalog, const char *folder, const char *name, bool *found,
                             struct error *error) {
    *found = false;
    if (name[0] == '.') return true;
    struct arena scratch;
    arena_init(&scratch, WORK_ARENA_LIMIT_BYTES);
    const char *path = folder_join(&scratch, folder, name);
    const char *child = path ? resolve(catalog, path, &scratch, error) : NULL;
    bool is_told = child  ? has_xplane(catalog, child, found, error)
                   : path ? error->code == ERROR_NOT_FOUND
                          : work_out_of_memory(error);
    arena_free(&scratch);
    return is_told;
}

// A child that cannot be looked into is left out, as XProf does, where others are left and there is memory.
static bool list_children(const struct catalog *catalog, const char *folder, struct arena *arena,
                          struct name_list *list, struct error *error) {
    *list = (struct name_list){.names = arena_new(arena, const char *, PLACE_CHILDREN_MAX)};
    if (!list->names) return work_out_of_memory(error);
    struct folder children;
    if (!storage_list(catalog->storage, folder, PLACE_CHILDREN_MAX, arena, &children, error))
        return error->code == ERROR_NOT_FOUND;
    for (size_t i = 0; i < children.entry_count; i++) {
        bool found, is_told = child_has_xplane(catalog, folder, children.entries[i].name, &found, error);
        if (!is_told && error->code == ERROR_NO_MEMORY) return false;
        list->left_out_count += !is_told;
        if (found) list->names[list->count++] = children.entries[i].name;
    }
    qsort(list->names, list->count, sizeof list->names[0], by_name_reversed);
    return list->left_out_count == 0 || list->count > 0;
}

bool place_names(const struct catalog *catalog, const struct session_place *place, struct arena *arena,
                 struct name_list *list, struct error *error) {
    bool is_child = !place->session_path;
    const char *folder = resolve(catalog, is_child ? place->run_path : place->session_path, arena, error);
    if (!folder) {
        *list = (struct name_list){0};
        return error->code == ERROR_NOT_FOUND;
    }
    if (is_child) return list_children(catalog, folder, arena, list, error);
    *list = (struct name_list){.names = arena_new(arena, const char *, 1)};
    if (!list->names) return work_out_of_memory(error);
    bool found, is_told = has_xplane(catalog, folder, &found, error);
    if (found) list->names[list->count++] = folder_last_name(folder);
    return is_told;
}
