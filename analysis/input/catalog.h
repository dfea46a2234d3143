// Which sessions a --logdir (or a PATH argument) holds.
//
//     /tmp/xprof                                      log root: every **/plugins/profile/<session>/ below it
//     /tmp/xprof/plugins/profile                      its sessions
//     /tmp/xprof/plugins/profile/2026_11_20           one session
//     /data/traces  (holds *.xplane.pb)               one session, named after the folder
//     /data/runs    (sub-folders hold *.xplane.pb)    each of them, named by its path below the root
//     host-0.xplane.pb  jit_f.hlo_proto.pb  x.hlo.pb  one session of one file, named after it; each also .gz
//     x.after_optimizations-buffer-assignment.txt     the same, of a dump in text
//     /data/dump    (filled by --xla_dump_to)         one session, named after the folder; sub-folders alike
//     memory.prof                                     one device memory profile (device_memory_files.h)
//
// Run names and order are XProf's (plugin/xprof/profile_plugin.py in openxla/xprof): "<session>" at the root, else
// "<path below the root>/<session>"; reverse lexicographic. Any sub-directory of plugins/profile counts as a run there.
// A path may be several of these at once; then everything is listed. Where the name of a loose folder is taken by a
// session under plugins/profile, the loose one gets "./" before it.
// A session of which a file is still being written (it ends inside a message and changed within the last
// CATALOG_WRITING_SECONDS) is `pending`, not an error and not listed as a session, until it is complete.
// Device memory profiles that lie in no session's folder are listed apart, each as a session of its own, named by its
// path below the root: XProf knows no such sessions, so whoever answers as XProf does sees none of them.
// Reads directories, and of files only what tells whether a fresh one is complete, or whether one whose name leaves it
// open is a device memory profile. Writes nothing. Symbolic links are followed only while they stay inside the root;
// what is left out is listed with its reason. So is a folder beside a plugins folder that its storage finds to be too
// large to look into (storage.h).
#pragma once

#include "analysis/input/session_files.h"

enum { CATALOG_WRITING_SECONDS = 120, CATALOG_MAX_DEPTH = 32 };

struct catalog_session {
    char *name;                    // the run name
    struct input_place place;      // the folder, or the single file; links may not leave the catalog's root
    struct file_version version;   // of the folder or file: while it stays, so do the names of the files
    struct session_files files;    // as the scan found them; none of a device memory profile
    bool may_hold_device_memory;   // a file beside them has a name of one (device_memory_files.h)
    uint64_t device_memory_stamp;  // of such files, or of the device memory profile that it is (file_stamp.h)
};

struct catalog {
    struct storage *storage;           // that it was scanned in, and what lies outside of the root is not opened
    char *root;                        // absolute, resolved
    struct catalog_session *sessions;  // reverse lexicographic
    size_t session_count;
    struct catalog_session *device_memory;  // device memory profiles outside any session, reverse lexicographic
    size_t device_memory_count;
    struct input_remark *pending;
    struct catalog_session *pending_sessions;  // what there is of each so far
    size_t pending_count;
    struct input_remark *left_out;
    size_t left_out_count;
    int64_t scanned_s;  // when the scan began
};

// Scans `path` of the storage into `arena`. ERROR_NOT_FOUND / ERROR_UNREADABLE when the path itself cannot be opened,
// with a sentence that says what to do; an unreadable folder below it is a `left_out` remark.
MUST_USE bool catalog_scan(const struct storage *storage, const char *path, struct arena *arena,
                           struct catalog *catalog, struct error *error);

// The same again: a file that was whole in `before` (NULL: there was no scan yet) is not read while it is as it was.
MUST_USE bool catalog_scan_again(const struct storage *storage, const char *path, const struct catalog *before,
                                 struct arena *arena, struct catalog *catalog, struct error *error);

// Session by run name, or NULL. Not among the device memory profiles.
const struct catalog_session *catalog_find(const struct catalog *catalog, struct bytes name);
