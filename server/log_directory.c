#include "server/log_directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/storage/opened_storage.h"

static bool can_read(const char *path, const struct stat *status) {
    if (!S_ISDIR(status->st_mode)) return access(path, R_OK) == 0;
    DIR *directory = opendir(path);
    if (!directory) return false;
    closedir(directory);
    return true;
}

static void explain_missing(const char *path, char *problem, size_t problem_size) {
    if (errno == ENOENT || errno == ENOTDIR)
        snprintf(problem, problem_size,
                 "There is no %.160s; give --logdir the folder that holds plugins/profile, or a *.xplane.pb file.",
                 path);
    else
        snprintf(problem, problem_size, "Cannot open %.160s: %s; check its permissions.", path, strerror(errno));
}

static bool check_bucket(const char *url, char *problem, size_t problem_size) {
    struct opened_storage opened;
    struct error error;
    bool is_good = opened_storage_begin(&opened, url, &error);
    if (!is_good) snprintf(problem, problem_size, "Cannot open %.160s: %.300s.", opened.path, error.message);
    opened_storage_end(&opened);
    return is_good;
}

bool log_directory_check(const char *path, char *problem, size_t problem_size) {
    if (strstr(path, "://")) return check_bucket(path, problem, problem_size);
    struct stat status;
    if (stat(path, &status) != 0) {
        explain_missing(path, problem, problem_size);
        return false;
    }
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
        snprintf(problem, problem_size, "%.160s is neither a folder nor a file; give --logdir one of these.", path);
        return false;
    }
    if (can_read(path, &status)) return true;
    explain_missing(path, problem, problem_size);
    return false;
}
