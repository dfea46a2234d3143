#define _GNU_SOURCE  // CLONE_THREAD
#include "server/sandbox/call_lists.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define ALWAYS(name)                                                                                                   \
    {                                                                                                                  \
        SYS_##name, {                                                                                                  \
            { CALL_ALWAYS, 0, 0 }                                                                                      \
        }                                                                                                              \
    }
#define IF_EQUAL(name, argument, value)                                                                                \
    {                                                                                                                  \
        SYS_##name, {                                                                                                  \
            { CALL_IF_EQUAL, (argument), (value) }                                                                     \
        }                                                                                                              \
    }
#define IF_ANY_BIT(name, argument, bits)                                                                               \
    {                                                                                                                  \
        SYS_##name, {                                                                                                  \
            { CALL_IF_ANY_BIT, (argument), (bits) }                                                                    \
        }                                                                                                              \
    }
#define IF_NO_BITS(name, argument, bits)                                                                               \
    {                                                                                                                  \
        SYS_##name, {                                                                                                  \
            { CALL_IF_NO_BITS, (argument), (bits) }                                                                    \
        }                                                                                                              \
    }
#define IF_EQUAL_AND_NO_BITS(name, argument, value, other, bits)                                                       \
    {                                                                                                                  \
        SYS_##name, {                                                                                                  \
            {CALL_IF_EQUAL, (argument), (value)}, {                                                                    \
                CALL_IF_NO_BITS, (other), (bits)                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
#define LIST(rules)                                                                                                    \
    (struct call_list) {                                                                                               \
        (rules), sizeof(rules) / sizeof *(rules)                                                                       \
    }

enum { WRITES = O_ACCMODE | O_CREAT | O_TRUNC, NAME_OF_MEMORY = 0x53564d41 /* PR_SET_VMA */ };

// In the order of how often they are made, as far as that matters.
static const struct call_rule usual[] = {
    ALWAYS(futex),
    ALWAYS(read),
    ALWAYS(pread64),
    ALWAYS(recvfrom),
    IF_NO_BITS(sendto, 3, MSG_FASTOPEN),  // which connects a socket that is at hand: the listening one, shut down
    IF_NO_BITS(sendmsg, 2, MSG_FASTOPEN),
    ALWAYS(recvmsg),
    ALWAYS(writev),
    ALWAYS(write),
    ALWAYS(sendfile),
    ALWAYS(close),
    // Not F_SETOWN, F_SETSIG and O_ASYNC: a descriptor that is ready would signal whomever it belongs to.
    IF_EQUAL(fcntl, 1, F_GETFL),
    IF_EQUAL_AND_NO_BITS(fcntl, 1, F_SETFL, 2, O_ASYNC),
    IF_EQUAL(fcntl, 1, F_GETFD),
    IF_EQUAL(fcntl, 1, F_SETFD),
    IF_EQUAL(fcntl, 1, F_DUPFD),
    IF_EQUAL(fcntl, 1, F_DUPFD_CLOEXEC),
    ALWAYS(madvise),
    ALWAYS(munmap),
    // Files: looked at and read.
    IF_NO_BITS(openat, 2, WRITES),
    ALWAYS(fstat),
    ALWAYS(newfstatat),
    ALWAYS(statx),
    ALWAYS(getdents64),
    ALWAYS(lseek),
    ALWAYS(readv),
    ALWAYS(preadv),
    ALWAYS(preadv2),
    ALWAYS(readlinkat),
    ALWAYS(faccessat),
    ALWAYS(statfs),
    ALWAYS(fstatfs),
    ALWAYS(fadvise64),
    ALWAYS(readahead),
    ALWAYS(getcwd),
    ALWAYS(inotify_init1),
    ALWAYS(inotify_add_watch),
    ALWAYS(inotify_rm_watch),
    ALWAYS(pwrite64),
    ALWAYS(pwritev),
    ALWAYS(ftruncate),
    ALWAYS(memfd_create),
    // Memory.
    IF_NO_BITS(mmap, 2, PROT_EXEC),
    IF_NO_BITS(mprotect, 2, PROT_EXEC),
    ALWAYS(mremap),
    ALWAYS(brk),
    ALWAYS(mincore),
    ALWAYS(membarrier),
    // Connections that were taken.
    ALWAYS(accept4),
    ALWAYS(accept),
    ALWAYS(getsockname),
    ALWAYS(getpeername),
    ALWAYS(getsockopt),
    ALWAYS(setsockopt),
    ALWAYS(shutdown),
    IF_NO_BITS(sendmmsg, 3, MSG_FASTOPEN),
    ALWAYS(recvmmsg),
    ALWAYS(splice),
    IF_EQUAL(ioctl, 1, FIONBIO),
    IF_EQUAL(ioctl, 1, FIONREAD),
    IF_EQUAL(ioctl, 1, FIOCLEX),
    IF_EQUAL(ioctl, 1, TCGETS),
    IF_EQUAL(ioctl, 1, TIOCGWINSZ),
    // Waiting.
    ALWAYS(ppoll),
    ALWAYS(pselect6),
    ALWAYS(epoll_create1),
    ALWAYS(epoll_ctl),
    ALWAYS(epoll_pwait),
    ALWAYS(eventfd2),
    ALWAYS(pipe2),
    ALWAYS(dup),
    ALWAYS(dup3),
    ALWAYS(timerfd_create),
    ALWAYS(timerfd_settime),
    ALWAYS(timerfd_gettime),
    ALWAYS(nanosleep),
    ALWAYS(clock_nanosleep),
    ALWAYS(restart_syscall),
    // Threads; clone3, whose flags cannot be looked at, is not there.
    IF_ANY_BIT(clone, 0, CLONE_THREAD),
    ALWAYS(set_robust_list),
    ALWAYS(get_robust_list),
    ALWAYS(set_tid_address),
    ALWAYS(sched_yield),
    ALWAYS(sched_getaffinity),
    ALWAYS(sched_getparam),
    ALWAYS(sched_getscheduler),
    ALWAYS(exit),
    ALWAYS(exit_group),
    IF_EQUAL(prctl, 0, PR_SET_NAME),
    IF_EQUAL(prctl, 0, PR_GET_NAME),
    IF_EQUAL(prctl, 0, NAME_OF_MEMORY),
    // Signals of its own.
    ALWAYS(rt_sigaction),
    ALWAYS(rt_sigprocmask),
    ALWAYS(rt_sigreturn),
    ALWAYS(rt_sigpending),
    ALWAYS(rt_sigtimedwait),
    ALWAYS(rt_sigsuspend),
    ALWAYS(sigaltstack),
    // Who, when, how much.
    ALWAYS(clock_gettime),
    ALWAYS(clock_getres),
    ALWAYS(gettimeofday),
    ALWAYS(getrandom),
    ALWAYS(getpid),
    ALWAYS(gettid),
    ALWAYS(getppid),
    ALWAYS(getuid),
    ALWAYS(geteuid),
    ALWAYS(getgid),
    ALWAYS(getegid),
    ALWAYS(uname),
    ALWAYS(sysinfo),
    ALWAYS(getrusage),
    ALWAYS(times),
    ALWAYS(getrlimit),
    IF_EQUAL(prlimit64, 0, 0),
    ALWAYS(getcpu),
#ifdef __x86_64__  // older calls, of which later machines have one form each
    IF_NO_BITS(open, 1, WRITES),
    ALWAYS(stat),
    ALWAYS(lstat),
    ALWAYS(access),
    ALWAYS(readlink),
    ALWAYS(poll),
    ALWAYS(select),
    ALWAYS(epoll_create),
    ALWAYS(epoll_wait),
    ALWAYS(eventfd),
    ALWAYS(pipe),
    ALWAYS(dup2),
    ALWAYS(getdents),
    ALWAYS(inotify_init),
    ALWAYS(time),
    ALWAYS(arch_prctl),
#endif
#ifdef SYS_rseq
    ALWAYS(rseq),
#endif
#ifdef SYS_faccessat2
    ALWAYS(faccessat2),
#endif
#ifdef SYS_close_range
    ALWAYS(close_range),
#endif
#ifdef SYS_epoll_pwait2
    ALWAYS(epoll_pwait2),
#endif
#ifdef SYS_futex_waitv
    ALWAYS(futex_waitv),
#endif
};

// Name services are libraries that are loaded when a name is first asked for. A socket of the machine's own kind would
// reach its services, among them those that start programs.
static const struct call_rule connecting[] = {
    IF_EQUAL(socket, 0, AF_INET),
    IF_EQUAL(socket, 0, AF_INET6),
    IF_EQUAL(socket, 0, AF_NETLINK),  // which addresses the machine has: for the order of those that were found
    ALWAYS(socketpair),
    ALWAYS(connect),
    ALWAYS(bind),
    ALWAYS(sendto),
    ALWAYS(sendmsg),
    ALWAYS(sendmmsg),
    ALWAYS(mmap),
    ALWAYS(mprotect),
};

static const struct call_rule keeping[] = {
    ALWAYS(openat),    ALWAYS(mkdirat), ALWAYS(renameat),  ALWAYS(renameat2),
    ALWAYS(utimensat), ALWAYS(fsync),   ALWAYS(fdatasync),
#ifdef __x86_64__
    ALWAYS(open),      ALWAYS(mkdir),   ALWAYS(rename),
#endif
};

static const struct call_rule removing[] = {
    ALWAYS(unlinkat),
#ifdef __x86_64__
    ALWAYS(unlink),
#endif
};

static const struct call_rule refused[] = {
    ALWAYS(execve),
    ALWAYS(execveat),
    ALWAYS(clone),
    ALWAYS(ptrace),
    ALWAYS(process_vm_readv),
    ALWAYS(process_vm_writev),
    ALWAYS(kill),
    ALWAYS(tkill),
    ALWAYS(tgkill),
    ALWAYS(socket),
    ALWAYS(socketpair),
    ALWAYS(connect),
    ALWAYS(bind),
    ALWAYS(listen),
    ALWAYS(sendto),
    ALWAYS(sendmsg),
    ALWAYS(sendmmsg),
    ALWAYS(fcntl),
    ALWAYS(openat),
    ALWAYS(truncate),
    ALWAYS(mkdirat),
    ALWAYS(unlinkat),
    ALWAYS(renameat),
    ALWAYS(renameat2),
    ALWAYS(linkat),
    ALWAYS(symlinkat),
    ALWAYS(mknodat),
    ALWAYS(fchmod),
    ALWAYS(fchmodat),
    ALWAYS(fchown),
    ALWAYS(fchownat),
    ALWAYS(utimensat),
    ALWAYS(setxattr),
    ALWAYS(mmap),
    ALWAYS(mprotect),
    ALWAYS(ioctl),
    ALWAYS(prctl),
    ALWAYS(prlimit64),
    ALWAYS(mount),
    ALWAYS(chroot),
    ALWAYS(setuid),
    ALWAYS(setgid),
    ALWAYS(setns),
    ALWAYS(unshare),
#ifdef __x86_64__
    ALWAYS(fork),
    ALWAYS(vfork),
    ALWAYS(open),
    ALWAYS(creat),
    ALWAYS(mkdir),
    ALWAYS(rmdir),
    ALWAYS(unlink),
    ALWAYS(rename),
    ALWAYS(link),
    ALWAYS(symlink),
    ALWAYS(mknod),
    ALWAYS(chmod),
    ALWAYS(chown),
    ALWAYS(lchown),
    ALWAYS(utimes),
#endif
};

struct call_list call_list_usual(void) {
    return LIST(usual);
}

struct call_list call_list_connecting(void) {
    return LIST(connecting);
}

struct call_list call_list_keeping(void) {
    return LIST(keeping);
}

struct call_list call_list_removing(void) {
    return LIST(removing);
}

struct call_list call_list_refused(void) {
    return LIST(refused);
}
