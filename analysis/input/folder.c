#define _DEFAULT_SOURCE 1  // DT_DIR and its kin: without them every entry would cost a system call
#include "analysis/input/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/base/growing_array.h"
#include "analysis/input/system_error.h"

static enum folder_entry_kind kind_of_mode(mode_t mode) {
    if (S_ISREG(mode)) return FOLDER_ENTRY_FILE;
    if (S_ISDIR(mode)) return FOLDER_ENTRY_FOLDER;
    return S_ISLNK(mode) ? FOLDER_ENTRY_LINK : FOLDER_ENTRY_OTHER;
}

// Some file systems do not say in the folder what an entry is.
static enum folder_entry_kind kind_of_entry(DIR *open_folder, const struct dirent *entry) {
    struct stat status;
    switch (entry->d_type) {
        case DT_REG:
            return FOLDER_ENTRY_FILE;
        case DT_DIR:
            return FOLDER_ENTRY_FOLDER;
        case DT_LNK:
            return FOLDER_ENTRY_LINK;
        case DT_UNKNOWN:
            if (fstatat(dirfd(open_folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
                return FOLDER_ENTRY_OTHER;
            return kind_of_mode(status.st_mode);
        default:
            return FOLDER_ENTRY_OTHER;
    }
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const struct folder_entry *)a)->name, ((const struct folder_entry *)b)->name);
}

static bool out_of_memory(const char *path, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to list the folder");
}

static bool add_entry(struct folder *folder, DIR *open_folder, const struct dirent *found, struct arena *arena) {
    struct folder_entry entry = {arena_string(arena, bytes_of(found->d_name)), kind_of_entry(open_folder, found)};
    return entry.name && growing_array_add(arena, folder->entries, folder->entry_count, entry);
}

static bool read_entries(DIR *open_folder, const char *path, size_t most, struct arena *arena, struct folder *folder,
                         struct error *error) {
    for (;;) {
        errno = 0;
        const struct dirent *found = readdir(open_folder);
        if (!found && errno != 0) return system_error(error, errno, "list the folder", path);
        if (!found) return true;
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        folder->has_more = folder->entry_count == most;
        if (folder->has_more) return true;
        if (!add_entry(folder, open_folder, found, arena)) return out_of_memory(path, error);
    }
}

bool folder_list(const char *path, size_t most, struct arena *arena, struct folder *folder, struct error *error) {
    *folder = (struct folder){0};
    DIR *open_folder = opendir(path);
    if (!open_folder) return system_error(error, errno, "open the folder", path);
    struct stat status;
    bool ok = fstat(dirfd(open_folder), &status) == 0 || system_error(error, errno, "look at the folder", path);
    if (ok) {
        folder->version = file_version_of(&status);
        ok = read_entries(open_folder, path, most, arena, folder, error);
    }
    closedir(open_folder);
    if (ok && folder->entry_count > 1)
        qsort(folder->entries, folder->entry_count, sizeof *folder->entries, compare_entries);
    return ok;
}

char *folder_join(struct arena *arena, const char *path, const char *name) {
    bool has_slash = bytes_ends_with(bytes_of(path), BYTES("/"));
    return arena_printf(arena, "%s%s%s", path, has_slash ? "" : "/", name);
}

char *folder_resolve(const char *path, struct arena *arena) {
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? arena_string(arena, bytes_of(resolved)) : NULL;
}

static bool is_below(const char *path, const char *root) {
    size_t size = strlen(root);
    if (size > 0 && root[size - 1] == '/') size--;
    return strncmp(path, root, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

struct folder_link folder_follow_link(const char *path, const char *root) {
    char target[PATH_MAX];
    struct stat status;
    if (!realpath(path, target) || stat(target, &status) != 0) return (struct folder_link){FOLDER_ENTRY_LINK, false};
    return (struct folder_link){kind_of_mode(status.st_mode), is_below(target, root)};
}
