// Counts what a program asks of the file system, for tests that must not depend on how fast anything is. Built by
// call_counter.py and loaded before the C library (LD_PRELOAD); the counts are in the file that COUNT_CALLS names,
// which may be read at any time.
//
//     uint64_t [ looks: stat and its kin, by path | folders opened | files opened for reading ]
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKS, FOLDERS, FILES, KINDS };

static _Atomic uint64_t nowhere[KINDS], *counts = nowhere;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("COUNT_CALLS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (shared != MAP_FAILED) counts = shared;
}

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define COUNT_STAT(name, type)                                                                                         \
    int name(const char *restrict path, struct type *restrict to) {                                                    \
        atomic_fetch_add(&counts[LOOKS], 1);                                                                           \
        return NEXT(name)(path, to);                                                                                   \
    }
COUNT_STAT(stat, stat)
COUNT_STAT(lstat, stat)
COUNT_STAT(stat64, stat64)
COUNT_STAT(lstat64, stat64)

DIR *opendir(const char *path) {
    atomic_fetch_add(&counts[FOLDERS], 1);
    return NEXT(opendir)(path);
}

static int mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
}

#define COUNT_OPEN(name)                                                                                               \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        int mode = mode_of(flags, rest);                                                                               \
        va_end(rest);                                                                                                  \
        if ((flags & O_ACCMODE) == O_RDONLY) atomic_fetch_add(&counts[FILES], 1);                                      \
        return NEXT(name)(path, flags, mode);                                                                          \
    }
COUNT_OPEN(open)
COUNT_OPEN(open64)
