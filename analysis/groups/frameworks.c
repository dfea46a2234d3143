#include "analysis/groups/frameworks.h"

const char *const FRAMEWORKS_DEFAULT =
    "jax,jaxlib,flax,haiku,equinox,keras,tf_keras,optax,einops,chex,jmp,orbax,jaxtyping,distrax,qwix,lineax,optimistix,"
    "penzai,objax,torch,torch_xla,torchax,tensorflow,tensorflow_probability,numpy,scipy,ml_dtypes";

// What follows the last folder that packages are installed in; empty when there is none.
static struct bytes after_packages(struct bytes file) {
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    struct bytes rest = {0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct bytes folder = bytes_of(folders[i]);
        for (size_t at = bytes_find(file, folder); at < file.size; at = bytes_find(file, folder)) {
            file = rest = (struct bytes){file.data + at + folder.size, file.size - at - folder.size};
        }
    }
    return rest;
}

// Does `path` start with `name` as a folder or a module?
static bool is_below(struct bytes path, struct bytes name) {
    if (!bytes_starts_with(path, name)) return false;
    struct bytes rest = {path.data + name.size, path.size - name.size};
    return bytes_starts_with(rest, BYTES("/")) || bytes_equal(rest, BYTES(".py"));
}

static struct bytes first_folder(struct bytes name) {
    size_t size = bytes_find(name, BYTES("/"));
    return (struct bytes){name.data, size};
}

// In a file that is not installed: name/name/.., or a path that starts with the name.
static bool is_checkout(struct bytes file, struct bytes name) {
    struct bytes folder = first_folder(name);
    if (is_below(file, name)) return true;
    for (size_t at = 0; at + folder.size + 1 < file.size; at++) {
        struct bytes here = {file.data + at, file.size - at};
        bool is_start = file.data[at] == '/' || at == 0;
        if (!is_start) continue;
        if (file.data[at] == '/') here = (struct bytes){here.data + 1, here.size - 1};
        if (!is_below(here, folder)) continue;
        struct bytes inside = {here.data + folder.size, here.size - folder.size};
        if (inside.size && is_below((struct bytes){inside.data + 1, inside.size - 1}, name)) return true;
    }
    return false;
}

static bool is_standard_library(struct bytes file) {
    return bytes_contains(file, BYTES("/lib/python3")) && !after_packages(file).size;
}

static bool is_in(const char *list, struct bytes file, struct bytes installed) {
    while (*list) {
        size_t size = strcspn(list, ",");
        struct bytes name = {(const uint8_t *)list, size};
        if (size && (installed.size ? is_below(installed, name) : is_checkout(file, name))) return true;
        list += size + (list[size] == ',');
    }
    return false;
}

bool frameworks_have(const char *frameworks, struct bytes file) {
    struct bytes installed = after_packages(file);
    bool goes_on = *frameworks == '+';
    return is_standard_library(file) || is_in(frameworks + goes_on, file, installed) ||
           (goes_on && is_in(FRAMEWORKS_DEFAULT, file, installed));
}
