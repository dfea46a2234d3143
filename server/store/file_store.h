// Whatever is made of a file: made once for each version of it, and kept in the cache.
//
//     input_file ─look─> input_file, version of now ─> key "module 4096 <version> <path>" ─> cache
//                                                                                   not there ─┘
//     { arena, thing } <─ fill(open file, arena) <─ open: is the descriptor of that version? <─┘
//
// The version is taken once, when the file is looked at; the keys are made from it, and what is opened is compared with
// it. So a file that is replaced meanwhile gives an error, never the bytes of one version under the key of another.
// What is wrong with the content is kept as well: it lasts as long as the version does. What these functions return is
// valid until the work ends.
//
// Of a .gz the points that its readers leave are kept beside what is made of it, under a key of the same version: the
// next thing is made from the nearest point on, not from the beginning, and a fault that was found at some expense is
// found at none (analysis/input/byte_source_points.h).
#pragma once

#include "analysis/input/byte_source.h"
#include "analysis/input/catalog.h"
#include "server/store/store.h"

// What a thing is made from.
struct filling {
    const struct input_file *file;
    struct byte_source *source;  // the open file
    const void *of;              // what else the key stands for, as the caller gave it: a program, a timeline
    struct arena *arena;         // lives as long as the thing
};

// One kind of things: an index, a module, a profile, ...
struct stored_kind {
    const char *name;    // what its keys begin with
    size_t thing_bytes;  // the struct that `fill` fills; it is zero before
    size_t arena_limit_bytes;
    bool is_light;    // needs little memory, and mostly waits: no turn is taken for it (load_slots.h)
    bool is_derived;  // made of what is loaded already: the file is not opened
    // How much of the file is read, as the caller's `of` tells; NULL: all of it, as of any .gz.
    uint64_t (*needed_bytes)(const void *of);
    bool (*fill)(const struct filling *from, void *thing, struct error *error);
    size_t (*outside_bytes)(const void *thing);  // what it holds outside the arena; NULL: nothing
    void (*release)(void *thing);                // gives that back
};

// File `i` of the session as it is now, for everything that one piece of work makes of it. NULL: *error is filled.
MUST_USE const struct input_file *file_store_look(struct work *work, const struct session *session, size_t i,
                                                  struct error *error);

struct open_file {
    struct byte_source *source;  // NULL: it is not open
    struct cache *cache;
    struct cache_entry *points;  // of a .gz; in use while it is open
};

// The file, if it is of the version that was looked at. It may stay open when the work ends, but not its cache.
MUST_USE bool file_store_open(struct work *work, const struct input_file *file, struct open_file *opened,
                              struct error *error);
void file_store_close(struct open_file *opened);

// Whether the file is no longer what it was when it was looked at.
bool file_store_has_changed(const struct input_file *file);

// "<kind> <version> <path>": names what a kind, or a reply, is of this version of the file. NULL: *error is filled.
MUST_USE const char *file_store_key(struct work *work, const char *kind, const struct input_file *file,
                                    struct error *error);

// The thing of that key, made when it is not kept. NULL: *error is filled.
MUST_USE const void *file_store_get(struct work *work, const struct stored_kind *kind, const char *key,
                                    const struct input_file *file, const void *of, struct error *error);

// The thing when it is kept already, else NULL at once.
MUST_USE const void *file_store_peek(struct work *work, const char *key);

// Where a load of the whole file queues.
struct load_wish file_store_wish(const struct input_file *file);

// Whether a fault is the content's own, and so lasts as long as this version of the file.
bool file_store_is_lasting(const struct error *error);
