#include "tests/unit/temp_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void need(bool ok, const char *what, const char *path) {
    if (ok) return;
    fprintf(stderr, "%s: cannot %s: %s\n", path, what, strerror(errno));
    abort();
}

void temp_folder_make(struct temp_folder *folder) {
    const char *parent = getenv("TMPDIR");
    snprintf(folder->path, sizeof folder->path, "%s/hbmview-test-XXXXXX", parent && parent[0] ? parent : "/tmp");
    need(mkdtemp(folder->path) != NULL, "make a folder", folder->path);
}

static void remove_tree(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) {
        need(unlink(path) == 0, "remove", path);
        return;
    }
    need(chmod(path, 0700) == 0, "open up", path);
    DIR *open_folder = opendir(path);
    need(open_folder != NULL, "open", path);
    if (!open_folder) return;
    for (const struct dirent *entry; (entry = readdir(open_folder));) {
        struct temp_path below;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        int size = snprintf(below.text, sizeof below.text, "%s/%s", path, entry->d_name);
        need(size > 0 && (size_t)size < sizeof below.text, "name an entry of", path);
        remove_tree(below.text);
    }
    closedir(open_folder);
    need(rmdir(path) == 0, "remove", path);
}

void temp_folder_remove(struct temp_folder *folder) {
    remove_tree(folder->path);
}

struct temp_path temp_folder_path(const struct temp_folder *folder, const char *below) {
    struct temp_path path;
    int size = snprintf(path.text, sizeof path.text, "%s%s%s", folder->path, below[0] ? "/" : "", below);
    need(size > 0 && (size_t)size < sizeof path.text, "name an entry of", folder->path);
    return path;
}

static void make_folders_above(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        need(mkdir(path, 0755) == 0 || errno == EEXIST, "make the folder", path);
        *slash = '/';
    }
}

void temp_folder_mkdir(const struct temp_folder *folder, const char *below) {
    struct temp_path path = temp_folder_path(folder, below);
    make_folders_above(path.text);
    need(mkdir(path.text, 0755) == 0 || errno == EEXIST, "make the folder", path.text);
}

void temp_folder_write(const struct temp_folder *folder, const char *below, struct bytes content) {
    struct temp_path path = temp_folder_path(folder, below);
    make_folders_above(path.text);
    FILE *file = fopen(path.text, "wb");
    need(file != NULL, "create", path.text);
    need(content.size == 0 || fwrite(content.data, 1, content.size, file) == content.size, "write", path.text);
    need(fclose(file) == 0, "write", path.text);
}

void temp_folder_link(const struct temp_folder *folder, const char *below, const char *target) {
    struct temp_path path = temp_folder_path(folder, below);
    make_folders_above(path.text);
    need(symlink(target, path.text) == 0, "link", path.text);
}

void temp_folder_set_age(const struct temp_folder *folder, const char *below, int age_s) {
    struct temp_path path = temp_folder_path(folder, below);
    struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
    need(utimensat(AT_FDCWD, path.text, times, 0) == 0, "set the time of", path.text);
}
