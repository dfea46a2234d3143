// Programs of a session: found by name through the index of each file, loaded once, kept in the cache (file_store.h).
//
//     "index <version> <path>"            ──> names, places, sizes of the programs in one file
//     "module <offset> <version> <path>"  ──> blob + columns in one arena
//
// Of a dump the second key also has the versions of the files beside it. What these functions return stays valid until
// the work ends.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "analysis/input/xspace_index.h"
#include "server/store/file_store.h"

// What one file holds. A file that was cut or damaged keeps the programs that are whole, and the fault.
struct file_index {
    struct xspace_index index;
    const struct error *fault;  // NULL for a file that is whole
};

// Of a file that was looked at. NULL when it cannot be read at all: *error is filled.
MUST_USE const struct file_index *module_store_index(struct work *work, const struct input_file *file,
                                                     struct error *error);

struct found_module {
    const struct input_file *file;  // as it was looked at: `program` is from this version
    const struct xspace_program *program;
    const char *key;  // names this version of this program: start of the keys of what is derived from it
};

// The program `name` ("jit_f(1)") of the first host that has it, or of `host` (NULL: any). ERROR_NOT_FOUND names what
// there is. A host that cannot be read is passed over while another one has the module.
MUST_USE bool module_store_find(struct work *work, const struct session *session, const char *host, const char *name,
                                struct found_module *found, struct error *error);

// Fills `found` for a program of the index of `file`.
MUST_USE bool module_store_name(struct work *work, const struct input_file *file, const struct xspace_program *program,
                                struct found_module *found, struct error *error);

// The loaded module, through the cache.
MUST_USE const struct hlo_module *module_store_load(struct work *work, const struct found_module *found,
                                                    struct error *error);
