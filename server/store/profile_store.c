#include "server/store/profile_store.h"

#include <stdlib.h>
#include <string.h>

#include "server/store/module_store.h"

static const size_t PROFILE_ARENA_LIMIT_BYTES = (size_t)4 << 30;

struct loaded_profile {
    struct arena arena;
    struct memory_profile profile;
    struct error refusal;  // ERROR_NONE, or why the content is none: that lasts as long as this version of the file
};

static void destroy_profile(void *data) {
    struct loaded_profile *loaded = data;
    memory_profile_free(&loaded->profile);
    arena_free(&loaded->arena);
    free(loaded);
}

static bool read_profile(const struct input_file *file, struct loaded_profile *loaded, struct error *error) {
    if (file->kind != PROFILE_FILE_XPLANE) {
        error_set(error, ERROR_NOT_FOUND,
                  "This file holds a compiled program; memory over time is in *.xplane.pb files.");
        return error_in_file(error, file->path, 0);
    }
    struct byte_source *source = module_store_open(file, error);
    if (!source) return error_in_file(error, file->path, 0);
    bool ok = memory_profile_read(source, &loaded->arena, &loaded->profile, error);
    byte_source_close(source);
    return ok || error_in_file(error, file->path, 0);
}

// So that a file that is expensive to refuse is refused once.
static bool keep_refusal(struct loaded_profile *loaded, const struct error *error) {
    bool is_of_content = error->code == ERROR_TRUNCATED || error->code == ERROR_MALFORMED ||
                         error->code == ERROR_TOO_BIG;
    if (!is_of_content) return false;
    memory_profile_free(&loaded->profile);
    arena_free(&loaded->arena);
    loaded->profile = (struct memory_profile){0};
    loaded->refusal = *error;
    return true;
}

struct loading {
    struct input_file file;
    const char *key;
};

// What was read is of the version that the key names: it is still that one.
static bool is_unchanged(const struct loading *loading, struct error *error) {
    struct work work;
    work_init(&work, NULL);
    const char *now = profile_store_key(&work, &loading->file, error);
    bool is_same = now && strcmp(now, loading->key) == 0;
    if (now && !is_same) {
        error_set(error, ERROR_UNREADABLE, "The file changed while it was being read; reload the page.");
        error_in_file(error, loading->file.path, 0);
    }
    work_free(&work);
    return is_same;
}

static bool load_profile(void *context, struct cache_value *value, struct error *error) {
    const struct loading *loading = context;
    struct loaded_profile *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return work_out_of_memory(error);
    arena_init(&loaded->arena, PROFILE_ARENA_LIMIT_BYTES);
    bool is_read = read_profile(&loading->file, loaded, error) || keep_refusal(loaded, error);
    if (!is_read || !is_unchanged(loading, error)) {
        destroy_profile(loaded);
        return false;
    }
    size_t cost = sizeof *loaded + loaded->arena.used_bytes + memory_profile_column_bytes(&loaded->profile);
    *value = (struct cache_value){loaded, cost, destroy_profile};
    return true;
}

const char *profile_store_key(struct work *work, const struct input_file *file, struct error *error) {
    const char *file_key = module_store_file_key(work, file, error);
    if (!file_key) return NULL;
    const char *key = arena_printf(&work->arena, "profile %s", file_key);
    if (!key) work_out_of_memory(error);
    return key;
}

const struct memory_profile *profile_store_load(struct work *work, const struct input_file *file, struct error *error) {
    const char *key = profile_store_key(work, file, error);
    struct loading loading = {*file, key};
    const struct loaded_profile *loaded = key ? work_get(work, key, load_profile, &loading, error) : NULL;
    if (loaded && loaded->refusal.code == ERROR_NONE) return &loaded->profile;
    if (loaded) *error = loaded->refusal;
    return NULL;
}
