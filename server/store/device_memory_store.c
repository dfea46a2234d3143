#include "server/store/device_memory_store.h"

#include "analysis/device_memory/device_memory_load.h"
#include "server/store/file_store.h"
#include "server/text/known_names.h"
#include "server/text/utf8.h"

// --- Files ---

static const struct input_file *no_such_file(const struct session *session, const char *file_name, struct arena *arena,
                                             struct error *error) {
    struct known_names known = {.count = 0};
    size_t count = session->files.file_count;
    for (size_t i = 0; i < count; i++) known_names_add(&known, bytes_of(session->files.files[i].name), arena);
    const char *names = known_names_text(&known, KNOWN_NAMES_FEW, arena);
    if (count == 0)
        error_set(error, ERROR_NOT_FOUND, "The session \"%.100s\" holds no device memory profile.", session->name);
    else if (!file_name)
        error_set(error, ERROR_BAD_REQUEST, "Which device memory profile? Give file; there are %zu: %.250s.", count,
                  names);
    else
        error_set(error, ERROR_NOT_FOUND,
                  "The session \"%.100s\" has no device memory profile \"%.60s\"; there are %zu: %.250s.",
                  session->name, file_name, count, names);
    return NULL;
}

const struct input_file *device_memory_store_find(const struct session *session, const char *file_name,
                                                  struct arena *arena, struct error *error) {
    const struct session_files *files = &session->files;
    if (!file_name && files->file_count == 1) return &files->files[0];
    for (size_t i = 0; file_name && i < files->file_count; i++) {
        if (utf8_same_text(bytes_of(files->files[i].name), file_name)) return &files->files[i];
    }
    return no_such_file(session, file_name, arena, error);
}

// --- Profiles ---

static bool fill_profile(const struct filling *from, void *thing, struct error *error) {
    return device_memory_profile_read(from->source, from->arena, thing, error);
}

static const struct stored_kind profile_kind = {.name = "device_memory",
                                                .thing_bytes = sizeof(struct device_memory_profile),
                                                .arena_limit_bytes = 1 << 30,
                                                .fill = fill_profile};

const struct device_memory_profile *device_memory_store_load(struct work *work, const struct input_file *file,
                                                             struct error *error) {
    const char *key = file_store_key(work, profile_kind.name, file, error);
    return key ? file_store_get(work, &profile_kind, key, file, NULL, error) : NULL;
}
