#define _GNU_SOURCE  // syscall, O_PATH
#include "server/sandbox/file_rules.h"

#include <errno.h>

#if __has_include(<linux/landlock.h>)

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

// As of the newest kernel that is known here, whatever the headers are; an older one takes it when what it does not
// know is 0.
struct rule_set {
    uint64_t files, connections, scopes;
};

enum {
    TCP_BIND = 1 << 0,
    TCP_CONNECT = 1 << 1,
    SCOPE_ABSTRACT_SOCKETS = 1 << 0,
    SCOPE_SIGNALS = 1 << 1,
};

static const uint64_t READING = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
                      KEEPING = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                                LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE,
                      OF_FIRST_VERSION = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

static struct rule_set refused_by_version(long version, bool connects) {
    return (struct rule_set){
        .files = OF_FIRST_VERSION | (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0),
        .connections = version >= 4 && !connects ? TCP_BIND | TCP_CONNECT : 0,
        .scopes = version >= 6 ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0,
    };
}

static uint64_t right_bits(enum file_right right) {
    switch (right) {
        case FILE_RIGHT_READ:
            return READING;
        case FILE_RIGHT_KEEP:
            return KEEPING;
        case FILE_RIGHT_REMOVE:
            return LANDLOCK_ACCESS_FS_REMOVE_FILE;
    }
    return 0;
}

static bool add_place(int rules, const struct file_place *place) {
    int fd = openat(AT_FDCWD, place->path, O_PATH | O_CLOEXEC);
    if (fd < 0) return true;
    struct stat status;
    struct landlock_path_beneath_attr rule = {.allowed_access = right_bits(place->right), .parent_fd = fd};
    bool is_folder = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    if (!is_folder) rule.allowed_access &= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    bool is_good = !rule.allowed_access ||
                   syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    int failure = errno;
    close(fd);
    errno = failure;
    return is_good;
}

static bool impose(int rules, const struct file_place *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!add_place(rules, &places[i])) return false;
    }
    return syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

struct file_rules file_rules_impose(const struct file_place *places, size_t count, bool connects) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return (struct file_rules){.failure = version < 0 ? errno : ENOSYS};
    const struct rule_set refused = refused_by_version(version, connects);
    long rules = syscall(SYS_landlock_create_ruleset, &refused, sizeof refused, 0);
    if (rules < 0) return (struct file_rules){.failure = errno};
    bool is_good = impose((int)rules, places, count);
    int failure = errno;
    close((int)rules);
    return is_good ? (struct file_rules){.version = (int)version} : (struct file_rules){.failure = failure};
}

#else

struct file_rules file_rules_impose(const struct file_place *places, size_t count, bool connects) {
    (void)places, (void)count, (void)connects;
    return (struct file_rules){.failure = ENOSYS};
}

#endif
