// What somebody waits for while it is read: how far it is, and whether they still want it.
//
//     a storage (a disk, a bucket)      -- files, bytes, names -->  reading  <-- looks: a progress line
//     everything that reads through it  <-- still wanted? -------            <-- stops: nobody waits
//
// It comes to a storage as a part of it (storage_read_for), so that nothing between the two knows of it. One reading is
// of one piece of work, with however many threads; a function takes NULL for work that nobody follows, and then does
// nothing. Thread-safe.
#pragma once

#include <stdatomic.h>

#include "analysis/base/error.h"
#include "analysis/base/short_lock.h"

struct reading {
    struct short_lock lock;  // held for as long as a path is copied, or a time is added
    char path[ERROR_FILE_BYTES];
    atomic_uint_fast64_t read_bytes, wanted_bytes;  // of that file
    atomic_uint_fast64_t listed_names;              // of that folder
    atomic_uint_fast64_t file_count, all_bytes;     // begun and read in all
    int64_t waited_ns;                              // for storage, less the beginnings of what is still waited for
    int64_t waiting;                                // how many threads wait for storage now
    atomic_bool is_abandoned, is_stopped;
    const void *asker;  // who takes turns with others, set before anything is read; NULL: the program itself
};

// What it is at one moment.
struct reading_state {
    char path[ERROR_FILE_BYTES];  // the file or folder that was begun last; "": none yet
    uint64_t read_bytes;
    uint64_t wanted_bytes;  // what is known to be needed of the file; may be less than what was read
    uint64_t listed_names;  // not 0: a folder is being listed
    uint64_t file_count;    // files and folders begun, this one among them
    uint64_t all_bytes;     // read of them all
};

void reading_init(struct reading *reading);

// --- For whoever reads ---

// Another file, or a folder.
void reading_begin(struct reading *reading, const char *path);

// So many bytes more of the file will be read; have been read; so many names of the folder are known.
void reading_wants(struct reading *reading, uint64_t bytes);
void reading_adds(struct reading *reading, uint64_t bytes);

// Around each call that may take as long as the storage likes.
void reading_awaits(struct reading *reading);
void reading_has_come(struct reading *reading);
void reading_lists(struct reading *reading, uint64_t names);

// Shows what somebody else reads, whom this one waits for.
void reading_show(struct reading *reading, const struct reading_state *seen);

bool reading_is_stopped(const struct reading *reading);

// False once it was stopped: *error is ERROR_STOPPED, at `path`.
MUST_USE bool reading_goes_on(const struct reading *reading, const char *path, struct error *error);

// --- For whoever waits ---

// NULL of NULL.
const void *reading_asker(const struct reading *reading);

// How long all threads waited for storage so far, that of now included; 0 of NULL.
int64_t reading_waited_ns(struct reading *reading);

struct reading_state reading_look(struct reading *reading);

// From now on every read of a storage fails, those under way in a bucket within a moment.
void reading_stop(struct reading *reading);

// Whoever asked has gone. That stops nothing yet: others may wait for what is read (the server's cache_abandon).
void reading_abandon(struct reading *reading);
bool reading_is_abandoned(const struct reading *reading);
