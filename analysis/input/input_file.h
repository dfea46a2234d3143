// One file of a session as its folder lists it: where it is, what its name says, and which version of it was seen.
//
//     /data/s1/tpu-vm-0.xplane.pb.gz                                    XPLANE         host "tpu-vm-0"
//     /data/s2/jit_f(36).hlo_proto.pb                                   HLO            program by its own name
//     /data/dump/module_0039.jit_f.cl_1.after_optimizations.hlo.pb      DUMP_PROTO     program "jit_f(39)"
//     /data/memory.prof                                                 DEVICE_MEMORY
//
// Holds no descriptor: whoever opens the file compares what is open with `version`. Texts lie on the lister's arena.
#pragma once

#include "analysis/input/storage.h"

enum profile_file_kind {
    PROFILE_FILE_XPLANE,
    PROFILE_FILE_HLO,         // one HloProto
    PROFILE_FILE_DUMP_PROTO,  // the same, in a folder of a dump
    PROFILE_FILE_DUMP_TEXT,   // a buffer assignment in text, with other files beside it
    PROFILE_FILE_DEVICE_MEMORY,
};

struct input_file {
    const struct storage *storage;
    const char *path;  // absolute
    char *name;        // its name in the folder
    char *host;        // xplane: file name minus .xplane.pb[.gz]; an HLO file among others: its name; else ""
    char *program;     // of a dump: what its module is called, "jit_f(39)"; else NULL
    enum profile_file_kind kind;
    bool is_broken;               // it was looked into, and is not at all what its name promises: opening it says why
    struct file_version version;  // when it was listed
};

struct input_place {  // a folder or a file
    const struct storage *storage;
    const char *path;  // absolute
    const char *root;  // which links may not leave
};

struct input_remark {  // something that is not listed, and why
    const char *path;
    char *reason;
    bool is_fault;  // it could not be read; else it was passed over on purpose
};
