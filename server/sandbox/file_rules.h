// Which files this process may still open, by the kernel's landlock (Linux 5.13): those below the places that are
// named, for what is named, and no others; whoever it starts, and each of its threads, is held to the same.
//
//     /logs/run          read           a folder, with all that comes to lie below it
//     /data/a.xplane.pb  read           a file: this one, not another that is put in its place
//     /var/cache/blocks  keep files     read, made, written and removed
//     /run/hbmview       remove files
//
// A place is what it leads to now, links followed: a folder that is removed and made again is another place. One that
// is not there, or that this user cannot open, is no place. What is open already stays open. Who only looks at a file's
// size and times, reads where a link leads, or has a folder watched, is not held to it: landlock knows no such right.
//
// A later kernel sees to two more of the promises of call_rules.h: no other process is signalled (Linux 6.12), and
// nothing is connected by TCP (6.7).
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum file_right { FILE_RIGHT_READ, FILE_RIGHT_KEEP, FILE_RIGHT_REMOVE };

struct file_place {
    const char *path;
    enum file_right right;
};

struct file_rules {
    int version;  // of landlock; 0: there are no rules
    int failure;  // then: errno
};

// Of the calling thread and those it starts: to be called while there is one. Wants no_new_privs.
struct file_rules file_rules_impose(const struct file_place *places, size_t count, bool connects);
