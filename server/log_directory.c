#include "server/log_directory.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"
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

// Whether it is a place that can be opened at all, with these settings; asks no server.
static bool check_storage(const char *path, const struct storage_settings *settings, char *problem,
                          size_t problem_size) {
    struct opened_storage opened;
    struct error error;
    bool is_good = opened_storage_begin(&opened, path, settings, &error);
    if (!is_good)
        snprintf(problem, problem_size, "Cannot open %.160s: %.300s.", error.file[0] ? error.file : opened.path,
                 error.message);
    opened_storage_end(&opened);
    return is_good;
}

bool log_directory_check(const char *path, const struct storage_settings *settings, char *problem,
                         size_t problem_size) {
    if (!check_storage(path, settings, problem, problem_size)) return false;
    if (strstr(path, "://")) return true;
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

// --- While the server starts ---

static void *look_there(void *context) {
    struct log_directory_look *look = context;
    char problem[LOG_DIRECTORY_PROBLEM_BYTES] = "";
    bool is_good = log_directory_check(look->path, look->settings, problem, sizeof problem);
    pthread_mutex_lock(&look->lock);
    memcpy(look->problem, problem, sizeof problem);
    look->is_bad = !is_good;
    look->is_known = true;
    pthread_cond_signal(&look->known);
    bool ends_server = look->is_bad && look->is_serving;
    pthread_mutex_unlock(&look->lock);
    if (ends_server) kill(getpid(), SIGTERM);
    return NULL;
}

static void wait_until_known(struct log_directory_look *look) {
    int64_t until_ms = steady_ms() + LOG_DIRECTORY_PATIENCE_MS;
    while (!look->is_known && steady_wait(&look->known, &look->lock, until_ms - steady_ms())) continue;
}

bool log_directory_look_begin(struct log_directory_look *look, const char *path,
                              const struct storage_settings *settings) {
    *look = (struct log_directory_look){.path = path, .settings = settings};
    if (!path) return true;
    pthread_mutex_init(&look->lock, NULL);
    steady_condition_init(&look->known);
    look->has_thread = pthread_create(&look->thread, NULL, look_there, look) == 0;
    if (!look->has_thread) (void)look_there(look);
    pthread_mutex_lock(&look->lock);
    wait_until_known(look);
    look->is_serving = !look->is_bad;
    bool is_bad = look->is_bad;
    pthread_mutex_unlock(&look->lock);
    return !is_bad || log_directory_look_end(look);
}

bool log_directory_look_end(struct log_directory_look *look) {
    if (look->has_thread) pthread_join(look->thread, NULL);
    look->has_thread = false;
    return !look->is_bad;
}
