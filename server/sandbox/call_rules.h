// Which system calls this process may still make, by the kernel's seccomp filters: a list of those that reading files
// and answering requests takes. What it promises of the others:
//
//     refused (EPERM)       programs and processes are started; files are written, made, renamed or removed; other
//                           processes are signalled or traced; memory becomes code; sockets are made and connected
//     not there (ENOSYS)    whatever else; a C library newer than this list then takes the older call that is on it
//     fatal                 calls of another architecture (32 bits)
//
// A flag lifts what the command line asked for. Arguments that are pointers cannot be looked at: a path is the business
// of file_rules.h.
#pragma once

#include <stdbool.h>

struct call_needs {
    bool connects;     // sockets of IPv4 and IPv6, and code that is loaded late (the C library's name services)
    bool keeps_files;  // files are written, renamed and removed
    bool removes_files;
};

// Of the calling thread and those it starts: to be called while there is one. Wants no_new_privs. 0, or errno.
int call_rules_impose(struct call_needs needs);
