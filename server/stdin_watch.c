#include "server/stdin_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *read_to_the_end(void *nothing) {
    char thrown_away[512];
    ssize_t size;
    do {
        size = read(STDIN_FILENO, thrown_away, sizeof thrown_away);
    } while (size > 0 || (size < 0 && errno == EINTR));
    kill(getpid(), SIGTERM);
    return nothing;
}

bool stdin_watch_begin(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, read_to_the_end, NULL) == 0 && pthread_detach(thread) == 0;
}
