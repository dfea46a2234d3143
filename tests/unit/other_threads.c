#include "tests/unit/other_threads.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUIET_LOOKS = 5 };

// A thread that is gone since it was listed does not run.
static bool is_running(const char *thread) {
    char path[300], state = 'S';
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    if (fscanf(file, "%*d %*[^)]) %c", &state) != 1) state = 'S';
    fclose(file);
    return state == 'R' || state == 'D';
}

static unsigned count_running(void) {
    unsigned running = 0;
    DIR *threads = opendir("/proc/self/task");
    if (!threads) abort();
    for (struct dirent *entry; (entry = readdir(threads));)
        running += entry->d_name[0] != '.' && is_running(entry->d_name);
    closedir(threads);
    return running;
}

// One that is woken after it was looked at, by one that is looked at later, is seen the next time.
void other_threads_wait_all(void) {
    for (unsigned quiet = 0; quiet < QUIET_LOOKS; sched_yield()) quiet = count_running() > 1 ? 0 : quiet + 1;
}
