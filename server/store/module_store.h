// Programs of a session: found by name through the index of each file, loaded once, kept in the cache.
//
//     "index 0 <file identity> <path>"         ──> names, places, sizes of the programs in one file
//     "module <offset> <file identity> <path>" ──> blob + columns in one arena
//
// A key holds the file's identity (device, inode, size, time), and of a dump those of the files beside it, so a
// replaced file is read anew and the old version leaves the cache by age. What these functions return stays valid until
// the work ends.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "analysis/input/byte_source.h"
#include "analysis/input/xspace_index.h"
#include "server/store/store.h"

// What one file holds. A file that was cut or damaged keeps the programs that are whole, and the fault.
struct file_index {
    struct xspace_index index;
    struct error fault;  // ERROR_NONE for a file that is whole
};

// NULL when the file cannot be read at all: *error is filled.
MUST_USE const struct file_index *module_store_index(struct work *work, const struct input_file *file,
                                                     struct error *error);

struct found_module {
    const struct input_file *file;
    const struct xspace_program *program;
    struct file_identity identity;  // the version of the file that `program` is from
    const char *key;                // names this version of this program: start of the keys of what is derived from it
};

// The program `name` ("jit_f(1)") of the first host that has it, or of `host` (NULL: any). ERROR_NOT_FOUND names what
// there is. A host that cannot be read is passed over while another one has the module.
MUST_USE bool module_store_find(struct work *work, const struct session *session, const char *host, const char *name,
                                struct found_module *found, struct error *error);

// Fills `found` for a program of an index that is at hand.
MUST_USE bool module_store_name(struct work *work, const struct input_file *file, const struct xspace_program *program,
                                struct found_module *found, struct error *error);

// The loaded module, through the cache.
MUST_USE const struct hlo_module *module_store_load(struct work *work, const struct found_module *found,
                                                    struct error *error);

// The same when it is in the cache already, else NULL at once.
MUST_USE const struct hlo_module *module_store_peek(struct work *work, const struct found_module *found);

// The same into `arena`, past the cache: for a look at many modules that should not push out the one in view.
MUST_USE bool module_store_read(const struct found_module *found, struct arena *arena, struct hlo_module *module,
                                struct error *error);

// Opens a file of a session; also the embedded sample.
MUST_USE struct byte_source *module_store_open(const struct input_file *file, struct error *error);

// Names the version of the file that is there now, for keys; on the work's arena. NULL: *error is filled.
MUST_USE const char *module_store_file_key(struct work *work, const struct input_file *file, struct error *error);
