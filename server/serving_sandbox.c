#include "server/serving_sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/growing_array.h"
#include "server/http/assets.h"
#include "server/sandbox/sandbox.h"
#include "server/storage/storage_files.h"
#include "server/text/printable.h"

struct places {
    struct arena *arena;
    struct file_place *items;
    size_t count;
};

static bool add(struct places *places, const char *path, enum file_right right) {
    return !path || growing_array_add(places->arena, places->items, places->count, (struct file_place){path, right});
}

static const char *of_process(const char *name) {
    return getenv(name);
}

static bool add_bucket(struct places *places, const struct options *options) {
    const char **files = NULL;
    size_t count = 0;
    if (!storage_files_list(of_process, places->arena, &files, &count)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!add(places, files[i], FILE_RIGHT_READ)) return false;
    }
    return add(places, options->storage.disk_cache, FILE_RIGHT_KEEP);
}

static bool add_folder_of(struct places *places, const char *file, enum file_right right) {
    const char *slash = strrchr(file, '/');
    if (!slash) return add(places, ".", right);
    struct bytes folder = {(const uint8_t *)file, slash == file ? 1 : (size_t)(slash - file)};
    const char *path = arena_string(places->arena, folder);
    return path && add(places, path, right);
}

static bool add_page(struct places *places, const char *web_dir) {
    const char *library = assets_library_folder(web_dir, places->arena);
    return library && add(places, web_dir, FILE_RIGHT_READ) && add(places, library, FILE_RIGHT_READ);
}

static bool list_places(const struct options *options, bool is_bucket, struct places *places) {
    bool is_good = is_bucket ? add_bucket(places, options)
                             : add(places, options->logdir && options->follow_symlinks ? "/" : options->logdir,
                                   FILE_RIGHT_READ);
    is_good = is_good && (!options->web_dir || add_page(places, options->web_dir));
    return is_good && (!options->unix_socket || add_folder_of(places, options->unix_socket, FILE_RIGHT_REMOVE));
}

bool serving_sandbox_enter(const struct options *options, struct arena *arena) {
    if (options->no_sandbox) {
        if (options->verbose) fprintf(stderr, "Sandbox: none (--no_sandbox).\n");
        return true;
    }
    struct places places = {.arena = arena};
    bool is_bucket = options->logdir && strstr(options->logdir, "://");
    if (!list_places(options, is_bucket, &places)) return false;
    const struct sandbox_needs needs = {places.items, places.count, is_bucket};
    const struct sandbox sandbox = sandbox_enter(&needs);
    bool is_told = options->verbose || !sandbox_holds(&sandbox);
    const char *text = is_told ? sandbox_text(&sandbox, &needs, arena) : NULL;
    if (text) fprintf(stderr, "%s\n", printable_text(bytes_of(text), arena));
    return text || !is_told;
}
