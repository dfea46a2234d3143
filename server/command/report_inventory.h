// What a PATH holds, by name: sessions, their files, their programs. Nothing of a program is loaded.
//
//     catalog -> sessions (newest first, also those still being written) -> files -> programs
//
// An entry is a row of module_list.h: a program that several hosts have under one name and in one size, with the first
// host's file. A file that is cut or damaged gives the programs that are whole, and an error.
#pragma once

#include "server/store/module_store.h"
#include "server/command/report_sessions.h"

struct report_session {
    const char *name;
    size_t program_count;  // of all its files, before --module
    bool has_errors;       // something of it could not be read
};

struct report_program {
    const struct report_session *session;
    const struct input_file *file;
    const struct xspace_program *program;
    const char *name;    // "jit_f(1)", printable
    const char **hosts;  // all that have it
    size_t host_count;
    uint32_t family;  // module_list.h; within the session
    bool is_of_pod;   // the session has several hosts
};

struct report_inventory {
    struct report_session *sessions;
    size_t session_count;
    struct report_program *programs;  // by session, first file, name
    size_t program_count;
    bool has_several_hosts;  // in some session with programs; or several files of one program each
    bool has_named_hosts;    // else what tells programs apart are files
};

// Fills the inventory with what the report asks for. What cannot be read, or is not there, is among its errors.
void report_inventory_read(struct report *report, struct report_inventory *inventory);
