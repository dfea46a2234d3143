#include "server/store/device_memory_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/store/module_store.h"
#include "server/text/utf8.h"

enum { NAMES_SHOWN = 3, NAMES_TEXT_BYTES = 256 };
static const size_t PROFILE_ARENA_LIMIT_BYTES = (size_t)1 << 30;

// --- Sessions ---

static const struct catalog_session *in_list(const struct catalog_session *sessions, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (utf8_same_text(bytes_of(sessions[i].name), name)) return &sessions[i];
    }
    return NULL;
}

static const struct catalog_session *in_catalog(const struct catalog *catalog, const char *name) {
    const struct catalog_session *found = in_list(catalog->device_memory, catalog->device_memory_count, name);
    if (!found) found = catalog_find(catalog, bytes_of(name));
    return found ? found : in_list(catalog->sessions, catalog->session_count, name);
}

// NULL with *error filled, or with ERROR_NONE when there is no such session.
static const struct catalog_session *find_session(struct store *store, struct work *work, const char *name,
                                                  struct error *error) {
    const struct catalog_session *found = NULL;
    error->code = ERROR_NONE;
    for (int wants_rescan = 0; wants_rescan < 2 && !found; wants_rescan++) {
        const struct catalog *catalog = store_catalog(store, work, wants_rescan != 0, error);
        if (!catalog) return NULL;
        found = in_catalog(catalog, name);
    }
    return found;
}

// The store has the words for a session that is not there, and for the sample, which has no device memory profile.
static bool open_empty(struct store *store, struct work *work, const char *name, struct device_memory_session *session,
                       struct error *error) {
    const struct session_place place = {.name = name};
    struct session opened;
    if (!store_open_session(store, work, &place, &opened, error)) return false;
    *session = (struct device_memory_session){.name = opened.name};
    return true;
}

bool device_memory_store_open(struct store *store, struct work *work, const char *name,
                              struct device_memory_session *session, struct error *error) {
    const struct catalog_session *found = store_logdir(store) ? find_session(store, work, name, error) : NULL;
    if (!found) {
        bool is_missing = !store_logdir(store) || error->code == ERROR_NONE;
        return is_missing && open_empty(store, work, name, session, error);
    }
    session->name = found->name;
    return device_memory_files_list(found, &work->arena, &session->files, error);
}

// --- Files ---

static const struct input_file *no_such_file(const struct device_memory_session *session, const char *file_name,
                                             struct error *error) {
    char known[NAMES_TEXT_BYTES] = "";
    size_t size = 0, count = session->files.file_count;
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%.60s", i ? ", " : "",
                                 session->files.files[i].name);
    }
    if (count == 0)
        error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" holds no device memory profile.", session->name);
    else if (!file_name)
        error_set(error, ERROR_BAD_REQUEST, "Which device memory profile? Give file; there are %zu: %s%s.", count,
                  known, count > NAMES_SHOWN ? ", ..." : "");
    else
        error_set(error, ERROR_NOT_FOUND,
                  "The session \"%.100s\" has no device memory profile \"%.60s\"; there are %zu: %s%s.", session->name,
                  file_name, count, known, count > NAMES_SHOWN ? ", ..." : "");
    return NULL;
}

const struct input_file *device_memory_store_find(const struct device_memory_session *session, const char *file_name,
                                                  struct error *error) {
    const struct device_memory_files *files = &session->files;
    if (!file_name && files->file_count == 1) return &files->files[0];
    for (size_t i = 0; file_name && i < files->file_count; i++) {
        if (utf8_same_text(bytes_of(files->files[i].name), file_name)) return &files->files[i];
    }
    return no_such_file(session, file_name, error);
}

// --- Profiles ---

struct loaded_profile {
    struct arena arena;
    struct device_memory_profile profile;
};

static void destroy_profile(void *data) {
    struct loaded_profile *loaded = data;
    arena_free(&loaded->arena);
    free(loaded);
}

static bool read_profile(const struct input_file *file, struct loaded_profile *loaded, struct error *error) {
    struct byte_source *source = byte_source_open(file->path, error);
    if (!source) return error_in_file(error, file->path, 0);
    bool is_good = device_memory_profile_read(source, &loaded->arena, &loaded->profile, error);
    byte_source_close(source);
    return is_good || error_in_file(error, file->path, 0);
}

static bool load_profile(void *context, struct cache_value *value, struct error *error) {
    struct loaded_profile *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return work_out_of_memory(error);
    arena_init(&loaded->arena, PROFILE_ARENA_LIMIT_BYTES);
    if (!read_profile(context, loaded, error)) {
        destroy_profile(loaded);
        return false;
    }
    *value = (struct cache_value){loaded, sizeof *loaded + loaded->arena.used_bytes, destroy_profile};
    return true;
}

const struct device_memory_profile *device_memory_store_load(struct work *work, const struct input_file *file,
                                                             struct error *error) {
    const char *file_key = module_store_file_key(work, file, error);
    const char *key = file_key ? arena_printf(&work->arena, "device_memory %s", file_key) : NULL;
    if (file_key && !key) work_out_of_memory(error);
    if (!key) return NULL;
    struct input_file mine = *file;
    const struct loaded_profile *loaded = work_get(work, key, load_profile, &mine, error);
    return loaded ? &loaded->profile : NULL;
}
