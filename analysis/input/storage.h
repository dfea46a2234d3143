// Where files lie: on a disk, in a bucket. The one thing beneath the catalog and the byte source; whoever reads a
// profile does not know which it is.
//
//     catalog, session_files, dump_files --- look, list, resolve ---.
//     byte_source -------------------------- open, read --------------> struct storage
//                                                                         local_storage.h: open(2), readdir(3)
//
// A path is a text that its storage gave or understands; names are joined to it by "/" (folder.h). Every storage can be
// used by many threads at once, and nothing is ever written to one. A kind of storage is a table of calls, and whatever
// `state` leads to; a struct storage is that place as one reader sees it, and small enough to be copied.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/input/folder.h"
#include "analysis/input/reading.h"

// What looks into files found, numbers of whoever looks, kept by the version of the file: one that was looked into is
// not again, and whoever asks for one that somebody is at gets that answer. Kept is what `look` says to last.
typedef unsigned kept_looks_look(const void *context, bool *lasts);
struct kept_looks {
    unsigned (*look)(struct kept_looks *kept, const struct file_version *version, kept_looks_look *look,
                     const void *context);
};

struct storage {
    const struct storage_calls *calls;
    bool follows_links;  // also where they lead out of a root
    const char *root;    // resolved: a file or folder that turns out to lie elsewhere is not opened; NULL: any is
    bool appears_whole;  // a file is there only when all of it is, as in a bucket
    bool is_aside;       // beside the profiles: a folder of very many names is refused (ERROR_TOO_BIG), not listed
    const void *state;
    struct reading *reading;        // who follows what is read here, and may stop it; NULL: nobody
    struct kept_looks *kept_looks;  // of its files; NULL: nothing is kept
};

// The same place, read on behalf of `reading` (NULL: of nobody). What is listed through a storage points to it.
static inline struct storage storage_read_for(const struct storage *storage, struct reading *reading) {
    struct storage same = *storage;
    same.reading = reading;
    return same;
}

// What is at a path. Links are followed, or looked at as what they are: then one is ENTRY_LINK.
struct storage_entry {
    enum entry_kind kind;
    struct file_version version;
};
enum storage_links { STORAGE_FOLLOW_LINKS, STORAGE_SEE_LINKS };

// Where a link leads: ENTRY_LINK as its kind means nowhere.
struct storage_link {
    enum entry_kind kind;
    bool is_inside;  // the target is below the root
};

// An open file, as its storage knows it.
union storage_handle {
    int descriptor;
    void *state;
};

struct storage_calls {
    bool (*look)(const struct storage *storage, const char *path, enum storage_links links, struct storage_entry *entry,
                 struct error *error);
    bool (*list)(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                 struct folder *folder, struct error *error);
    char *(*resolve)(const struct storage *storage, const char *path, struct arena *arena, struct error *error);
    struct storage_link (*follow)(const struct storage *storage, const char *path, const char *root);
    bool (*open)(const struct storage *storage, const char *path, union storage_handle *handle,
                 struct file_version *version, struct error *error);
    bool (*read)(const struct storage *storage, union storage_handle handle, uint64_t offset, uint8_t *to, size_t size,
                 size_t *read_bytes, const char *path, struct error *error);
    // All of that range will be read, in order. NULL: nothing follows from it.
    void (*expect)(const struct storage *storage, union storage_handle handle, uint64_t offset, uint64_t size);
    bool (*is_unchanged)(const struct storage *storage, union storage_handle handle,
                         const struct file_version *version);
    bool (*clone)(const struct storage *storage, union storage_handle handle, union storage_handle *clone);
    void (*close)(const struct storage *storage, union storage_handle handle);
    bool splits_reads;  // a large read is in parallel already; else two threads share it
};

// What is at `path` now. ERROR_NOT_FOUND or ERROR_UNREADABLE names the path.
MUST_USE bool storage_look(const struct storage *storage, const char *path, enum storage_links links,
                           struct storage_entry *entry, struct error *error);

// The same of what must be a file; false for anything else.
MUST_USE bool storage_look_at_file(const struct storage *storage, const char *path, enum storage_links links,
                                   struct file_version *version);

// What lies in a folder; at most `most` entries of it.
MUST_USE bool storage_list(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                           struct folder *folder, struct error *error);

// The one path of what is at `path`: absolute, without links, "." and "..". NULL: *error is filled.
char *storage_resolve(const struct storage *storage, const char *path, struct arena *arena, struct error *error);

// Follows the link at `path`; `root` is resolved.
struct storage_link storage_follow(const struct storage *storage, const char *path, const char *root);
