// The files of one session: which of a folder's entries are profiles, one for each host.
//
//     a.xplane.pb  a.xplane.pb.gz  b.xplane.pb      a, b      the plain file of a host that has both
//     jit_f(36).hlo_proto.pb                        where there is no xplane file: XProf's cache of what those hold
//     module_0039.jit_f.*, and what lies beside it  the modules of a dump (dump_files.h), and other HLO files
//     memory.prof                                   listed apart from all these (device_memory_files.h)
//
// NO_MODULE.hlo_proto.pb is never a module. Links are followed while they stay inside the root; what is left out is
// listed with its reason. Opens none but those whose names leave it open whether they are device memory profiles, and
// these once for each of their versions where the storage keeps what was found in them.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/input/input_file.h"

enum { SESSION_FILES_MAX_ENTRIES = 1 << 20 };  // of a folder

struct session_files {
    struct input_file *files;  // xplane files by host name, ascending; or HLO files by name, a dump's modules last
    size_t file_count;
    size_t host_count;  // how many of them are xplane files: files[0..host_count)
    struct input_remark *left_out;
    size_t left_out_count;
};

// HLO files are taken only as SESSION_PROFILES_OR_HLO and where there is no xplane file; the modules of a dump in any
// case, but not in a run folder, whose HLO files are XProf's.
enum session_files_kind { SESSION_PROFILES, SESSION_PROFILES_OR_HLO, SESSION_DEVICE_MEMORY };

// Lists what is there now, a folder (one readdir) or the session's single file. The place must outlive the list.
MUST_USE bool session_files_list(const struct input_place *place, enum session_files_kind kind, struct arena *arena,
                                 struct session_files *files, struct error *error);

// The same of a folder whose entries are read already.
MUST_USE bool session_files_in_folder(const struct folder *folder, const struct input_place *place,
                                      enum session_files_kind kind, struct arena *arena, struct session_files *files,
                                      struct error *error);
