// Lets one call of a program fail: the FAIL_AT-th of its allocations, reads, opens, looks at files, writes and threads.
// Loaded before the C library (LD_PRELOAD) and steered through a file that both sides map, which FAIL_CONTROL names:
//
//     uint64_t [ armed: 0 or 1 | fail_at: 0 for none | calls so far | what failed: 'm' 'r' 'o' 's' 'w' 't' |
//                fail_place: 0 for none ]
//     uint64_t traces[...]
//
// While it is armed each call is counted and the hash of who called goes into `traces`: a call from a place that was
// tried before need not be tried again. Where threads make the order differ from one time to the next, `fail_place` is
// such a hash instead of a number: the first call from there fails. A command is not started anew for each try: with
// FAIL_FORKS its main() becomes a loop that reads a line per try ("fail_at stdout stderr"), forks, runs main() and
// prints how that ended. With FAIL_NOT_AT_EXIT nothing fails after main(): libgcov, which writes its counts then, takes
// every malloc for granted. With FAIL_NEAR_ONLY a place is told by its nearest callers, where all of them make too
// many. With FAIL_FILES_ONLY neither memory nor threads fail.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRACES_MAX = 1 << 20, FRAMES = 24, NEAR_FRAMES = 9, PATH_BYTES = 400 };

struct control {
    _Atomic uint64_t armed, fail_at, calls, failed_kind, fail_place, traces[TRACES_MAX];
};

static struct control *control;
static _Thread_local bool is_tracing;
static int frames_told = FRAMES;
static bool is_of_files_only;

int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void (*init)(void),
                      void (*fini)(void), void (*linker_fini)(void), void *stack_end);

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    void *frames[2];
    const char *path = getenv("FAIL_CONTROL");
    if (getenv("FAIL_NEAR_ONLY")) frames_told = NEAR_FRAMES;
    is_of_files_only = getenv("FAIL_FILES_ONLY") != NULL;
    int fd = path ? NEXT(open)(path, O_RDWR | O_CLOEXEC) : -1;
    (void)backtrace(frames, 2);  // it loads a library the first time
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (shared != MAP_FAILED) control = shared;
}

// From where a call comes, as a number: the same for the same stack, however often.
static uint64_t place_of_call(void) {
    void *frames[FRAMES];
    uint64_t hash = 0xcbf29ce484222325;
    int count = backtrace(frames, frames_told);
    for (int i = 2; i < count; i++) hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 0x100000001b3;
    return hash;
}

static bool fails(char kind) {
    if (!control || is_tracing || !atomic_load(&control->armed)) return false;
    if (is_of_files_only && (kind == 'm' || kind == 't')) return false;
    uint64_t number = atomic_fetch_add(&control->calls, 1) + 1, at = atomic_load(&control->fail_at);
    uint64_t wanted = atomic_load(&control->fail_place);
    is_tracing = true;
    uint64_t place = at == 0 ? place_of_call() : 0;
    is_tracing = false;
    if (at == 0 && number <= TRACES_MAX) atomic_store(&control->traces[number - 1], place);
    bool is_there = wanted && place == wanted && atomic_compare_exchange_strong(&control->fail_place, &wanted, 0);
    if (number == at || is_there) atomic_store(&control->failed_kind, (uint64_t)kind);
    return number == at || is_there;
}

static bool fails_as(char kind, int code) {
    if (!fails(kind)) return false;
    errno = code;
    return true;
}

// --- Memory ---

void *malloc(size_t size) {
    return fails_as('m', ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails_as('m', ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return fails_as('m', ENOMEM) ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails_as('m', ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    if ((flags & MAP_ANONYMOUS) && fails_as('m', ENOMEM)) return MAP_FAILED;
    return NEXT(mmap)(at, size, protection, flags, fd, offset);
}

void *mremap(void *old, size_t size, size_t wanted, int flags, ...) {
    if (fails_as('m', ENOMEM)) return MAP_FAILED;
    return NEXT(mremap)(old, size, wanted, flags);
}

// It loads libgcc_s, which backtrace has loaded here long ago, and ends the program when it cannot.
int pthread_cancel(pthread_t thread) {
    if (fails('m')) abort();
    return NEXT(pthread_cancel)(thread);
}

// --- Files ---

#define FAILING_READ(name, offset_type)                                                                                \
    ssize_t name(int fd, void *to, size_t size, offset_type offset) {                                                  \
        return fails_as('r', EIO) ? -1 : NEXT(name)(fd, to, size, offset);                                             \
    }
FAILING_READ(pread, off_t)
FAILING_READ(pread64, off64_t)

// Of a file: the wake-up calls between the threads of a library cannot fail, and what a client sends is no file.
static bool is_file(int fd) {
    struct stat status;
    return NEXT(fstat)(fd, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t read(int fd, void *to, size_t size) {
    return is_file(fd) && fails_as('r', EIO) ? -1 : NEXT(read)(fd, to, size);
}

ssize_t readv(int fd, const struct iovec *parts, int count) {
    return is_file(fd) && fails_as('r', EIO) ? -1 : NEXT(readv)(fd, parts, count);
}

#define FAILING_READDIR(name, type)                                                                                    \
    struct type *name(DIR *folder) {                                                                                   \
        return fails_as('r', EIO) ? NULL : NEXT(name)(folder);                                                         \
    }
FAILING_READDIR(readdir, dirent)
FAILING_READDIR(readdir64, dirent64)

#define FAILING_STAT(name, type)                                                                                       \
    int name(const char *restrict path, struct type *restrict to) {                                                    \
        return fails_as('s', EIO) ? -1 : NEXT(name)(path, to);                                                         \
    }
FAILING_STAT(stat, stat)
FAILING_STAT(lstat, stat)
FAILING_STAT(stat64, stat64)
FAILING_STAT(lstat64, stat64)

#define FAILING_FSTAT(name, type)                                                                                      \
    int name(int fd, struct type *to) {                                                                                \
        return fails_as('s', EIO) ? -1 : NEXT(name)(fd, to);                                                           \
    }
FAILING_FSTAT(fstat, stat)
FAILING_FSTAT(fstat64, stat64)

#define FAILING_FSTATAT(name, type)                                                                                    \
    int name(int folder, const char *restrict path, struct type *restrict to, int flags) {                             \
        return fails_as('s', EIO) ? -1 : NEXT(name)(folder, path, to, flags);                                          \
    }
FAILING_FSTATAT(fstatat, stat)
FAILING_FSTATAT(fstatat64, stat64)

char *realpath(const char *restrict path, char *restrict to) {
    return fails_as('s', EIO) ? NULL : NEXT(realpath)(path, to);
}

extern char *__realpath_chk(const char *path, char *to, size_t room);  // the same, of a program that is fortified

char *__realpath_chk(const char *path, char *to, size_t room) {
    return fails_as('s', EIO) ? NULL : NEXT(__realpath_chk)(path, to, room);
}

#define FAILING_OPEN(name)                                                                                             \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;                                              \
        va_end(rest);                                                                                                  \
        return fails_as('o', EIO) ? -1 : NEXT(name)(path, flags, mode);                                                \
    }
FAILING_OPEN(open)
FAILING_OPEN(open64)

#define FAILING_OPENAT(name)                                                                                           \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;                                              \
        va_end(rest);                                                                                                  \
        return fails_as('o', EIO) ? -1 : NEXT(name)(folder, path, flags, mode);                                        \
    }
FAILING_OPENAT(openat)
FAILING_OPENAT(openat64)

#define FAILING_FOPEN(name)                                                                                            \
    FILE *name(const char *restrict path, const char *restrict mode) {                                                 \
        return fails_as('o', EIO) ? NULL : NEXT(name)(path, mode);                                                     \
    }
FAILING_FOPEN(fopen)
FAILING_FOPEN(fopen64)

DIR *opendir(const char *path) {
    return fails_as('o', EIO) ? NULL : NEXT(opendir)(path);
}

DIR *fdopendir(int fd) {
    return fails_as('o', EIO) ? NULL : NEXT(fdopendir)(fd);
}

ssize_t write(int fd, const void *from, size_t size) {
    return is_file(fd) && fails_as('w', ENOSPC) ? -1 : NEXT(write)(fd, from, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    return is_file(fd) && fails_as('w', ENOSPC) ? -1 : NEXT(writev)(fd, parts, count);
}

// --- Threads ---

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context) {
    return fails('t') ? EAGAIN : NEXT(pthread_create)(thread, attributes, start, context);
}

// --- A command, again and again ---

typedef int main_function(int, char **, char **);
static main_function *real_main;

static void redirect(const char *path, int flags, int to) {
    int fd = NEXT(open)(path, flags, 0600);
    if (fd < 0 || dup2(fd, to) < 0) _exit(99);
    close(fd);
}

static int run_main(uint64_t fail_at, const char *out, const char *errors, int count, char **words, char **variables) {
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);  // the lines of the loop are not for the command
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    atomic_store(&control->calls, 0);
    atomic_store(&control->failed_kind, 0);
    atomic_store(&control->fail_at, fail_at);
    atomic_store(&control->armed, 1);
    int code = real_main(count, words, variables);
    if (getenv("FAIL_NOT_AT_EXIT")) atomic_store(&control->armed, 0);
    exit(code);
}

static int main_in_a_loop(int count, char **words, char **variables) {
    char out[PATH_BYTES], errors[PATH_BYTES];
    unsigned long long fail_at;
    while (scanf("%llu %399s %399s", &fail_at, out, errors) == 3) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) run_main(fail_at, out, errors, count, words, variables);
        if (child < 0 || waitpid(child, &status, 0) < 0) return 99;
        atomic_store(&control->armed, 0);
        printf("%d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
    }
    return 0;
}

int __libc_start_main(main_function *main, int count, char **words, void (*init)(void), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end) {
    real_main = main;
    bool loops = control && getenv("FAIL_FORKS");
    return NEXT(__libc_start_main)(loops ? main_in_a_loop : main, count, words, init, fini, linker_fini, stack_end);
}
