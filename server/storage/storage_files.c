#include "server/storage/storage_files.h"

#include <string.h>

#include "analysis/base/growing_array.h"

static const char *const of_system[] = {
    "/etc",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/ca-certificates",
    "/nix/store",
    "/gnu/store",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/var/lib/ca-certificates",
    "/sys/devices/system/cpu",
    "/proc/sys",
};

// Those whose variable names a file, and those whose variable names a folder.
static const char *const of_files[] = {"AWS_SHARED_CREDENTIALS_FILE",
                                       "AWS_CONFIG_FILE",
                                       "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                       "GOOGLE_APPLICATION_CREDENTIALS",
                                       "AWS_CA_BUNDLE",
                                       "CURL_CA_BUNDLE",
                                       "SSL_CERT_FILE"};
static const char *const of_folders[] = {"CLOUDSDK_CONFIG", "SSL_CERT_DIR"};
static const char *const below_home[] = {".aws", ".config/gcloud"};

static bool add(struct arena *arena, const char ***paths, size_t *count, const char *path) {
    return path && growing_array_add(arena, *paths, *count, path);
}

static const char *folder_of(const char *file, struct arena *arena) {
    const char *slash = strrchr(file, '/');
    if (!slash) return ".";
    return slash == file ? "/" : arena_string(arena, (struct bytes){(const uint8_t *)file, (size_t)(slash - file)});
}

bool storage_files_list(environment_reader *environment, struct arena *arena, const char ***paths, size_t *count) {
    const char *home = environment_get(environment, "HOME"), *value;
    bool is_good = true;
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++) {
        if ((value = environment_get(environment, of_files[i])))
            is_good = is_good && add(arena, paths, count, folder_of(value, arena));
    }
    for (size_t i = 0; i < sizeof of_folders / sizeof *of_folders; i++) {
        if ((value = environment_get(environment, of_folders[i]))) is_good = is_good && add(arena, paths, count, value);
    }
    for (size_t i = 0; home && i < sizeof below_home / sizeof *below_home; i++)
        is_good = is_good && add(arena, paths, count, arena_printf(arena, "%s/%s", home, below_home[i]));
    for (size_t i = 0; i < sizeof of_system / sizeof *of_system; i++)
        is_good = is_good && add(arena, paths, count, of_system[i]);
    return is_good;
}
