// Makes a file system slow, for tests: every call on a path below SLOW_FOLDER, and on what was opened there, takes
// SLOW_MS. Built by slow_files.py and loaded before the C library (LD_PRELOAD). Calls are counted in the file that
// SLOW_COUNTS names, so that a test can tell how many there were, whatever they took; there it can also make reads
// slower than the rest while the program runs. What takes no time is counted, and never under way.
//
//     uint64_t [ calls | calls that are under way | the most that were at once | what a read takes more, in ms ]
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CALLS, NOW, MOST, READ_MS, KINDS, DESCRIPTORS = 4096 };

static _Atomic uint64_t nowhere[KINDS], *counts = nowhere;
static atomic_bool is_slow_descriptor[DESCRIPTORS];
static const char *folder;
static long delay_ms;

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SLOW_COUNTS"), *ms = getenv("SLOW_MS");
    int fd = path ? NEXT(open)(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (shared != MAP_FAILED) counts = shared;
    delay_ms = ms ? strtol(ms, NULL, 10) : 0;
    folder = getenv("SLOW_FOLDER");
}

static bool is_below(const char *path) {
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static void take_ms(long ms) {
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    atomic_fetch_add(&counts[CALLS], 1);
    if (!ms) return;
    uint64_t now = atomic_fetch_add(&counts[NOW], 1) + 1, most = atomic_load(&counts[MOST]);
    while (now > most && !atomic_compare_exchange_weak(&counts[MOST], &most, now)) continue;
    nanosleep(&pause, NULL);
    atomic_fetch_sub(&counts[NOW], 1);
}

static void take_time(void) {
    take_ms(delay_ms);
}

static int note(int fd, bool is_slow) {
    if (fd >= 0 && fd < DESCRIPTORS) atomic_store(&is_slow_descriptor[fd], is_slow);
    return fd;
}

static void slow_descriptor(int fd, long more_ms) {
    if (fd >= 0 && fd < DESCRIPTORS && atomic_load(&is_slow_descriptor[fd])) take_ms(delay_ms + more_ms);
}

#define SLOW_STAT(name, type)                                                                                          \
    int name(const char *restrict path, struct type *restrict to) {                                                    \
        if (is_below(path)) take_time();                                                                               \
        return NEXT(name)(path, to);                                                                                   \
    }
SLOW_STAT(stat, stat)
SLOW_STAT(lstat, stat)
SLOW_STAT(stat64, stat64)
SLOW_STAT(lstat64, stat64)

#define SLOW_FSTAT(name, type)                                                                                         \
    int name(int fd, struct type *to) {                                                                                \
        slow_descriptor(fd, 0);                                                                                        \
        return NEXT(name)(fd, to);                                                                                     \
    }
SLOW_FSTAT(fstat, stat)
SLOW_FSTAT(fstat64, stat64)

#define SLOW_OPEN(name)                                                                                                \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;                                              \
        va_end(rest);                                                                                                  \
        if (is_below(path)) take_time();                                                                               \
        return note(NEXT(name)(path, flags, mode), is_below(path));                                                    \
    }
SLOW_OPEN(open)
SLOW_OPEN(open64)

#define SLOW_READ(name, offset_type)                                                                                   \
    ssize_t name(int fd, void *to, size_t size, offset_type offset) {                                                  \
        slow_descriptor(fd, (long)atomic_load(&counts[READ_MS]));                                                      \
        return NEXT(name)(fd, to, size, offset);                                                                       \
    }
SLOW_READ(pread, off_t)
SLOW_READ(pread64, off64_t)

DIR *opendir(const char *path) {
    if (is_below(path)) take_time();
    return NEXT(opendir)(path);
}
