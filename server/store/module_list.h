// The programs of a session, merged over its hosts: one row for each program, and no host is lost.
//
//     host a: jit_f(1), jit_g(2)  \   jit_f(1)  a, b
//     host b: jit_f(1), jit_h(3)  /   jit_g(2)  a          the first host is the one XProf shows
//                                     jit_h(3)  b
//
// Hosts have one program when they have it under one name and in one size. Rows are in order of name; different
// programs of one name, of hosts or of HLO files, are rows of their own, in order of their first host or file. A host
// that cannot be read has its error; the others are unaffected.
//
// Rows of one family are the same program of the pod, compiled differently for some hosts: hosts have it under one name
// in several sizes, or in one size under names that differ by the program id alone (a host that compiled something else
// before counts on), and no host has it twice. HLO files are families of their own.
#pragma once

#include "server/store/module_store.h"

struct module_host {
    const struct input_file *file;
    const struct xspace_index *index;  // of the programs that are whole; NULL: the file cannot be read at all
    size_t module_count;
    const struct error *error;  // NULL: it could be read
};

struct module_row {
    const struct xspace_program *program;  // of the first host
    uint32_t *hosts;                       // indexes into module_list.hosts, ascending
    uint32_t host_count;
    uint32_t family;  // numbered by their first rows: 0, 1, ...
};

struct module_list {
    struct module_host *hosts;
    size_t host_count;
    struct module_row *rows;
    size_t row_count;
};

// Whether any file of the session can be seen to hold a program. When none can, and a file could not be looked at now,
// or a host is no longer of the version that the session has, *unsure is why; else its code is ERROR_NONE.
bool module_list_has_any(const struct work *asker, const struct session *session, struct error *unsure);

// Reads the index of every file of the session, through the cache. False only without memory.
MUST_USE bool module_list_read(struct work *work, const struct session *session, struct module_list *list,
                               struct error *error);
