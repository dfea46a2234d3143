#include "server/log_directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool can_read(const char *path, const struct stat *status) {
    if (!S_ISDIR(status->st_mode)) return access(path, R_OK) == 0;
    DIR *directory = opendir(path);
    if (!directory) return false;
    closedir(directory);
    return true;
}

static void explain_missing(const char *path, char *problem, size_t problem_size) {
    if (strstr(path, "://"))
        snprintf(problem, problem_size,
                 "hbmview reads local files only; copy %.120s to this machine (or mount it) and give that folder.",
                 path);
    else if (errno == ENOENT || errno == ENOTDIR)
        snprintf(problem, problem_size,
                 "There is no %.160s; give --logdir the folder that holds plugins/profile, or a *.xplane.pb file.",
                 path);
    else
        snprintf(problem, problem_size, "Cannot open %.160s: %s; check its permissions.", path, strerror(errno));
}

bool log_directory_check(const char *path, char *problem, size_t problem_size) {
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
