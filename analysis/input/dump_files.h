// The modules of a folder that --xla_dump_to filled, and what lies beside each.
//
//     module_0039.jit_f.cl_1.after_optimizations.hlo.pb               a module: "jit_f(39)"
//     module_0039.jit_f.cl_1.after_optimizations-*-report.pb          beside it: dump_files_beside finds these by
//     module_0039.jit_f.cl_1.oom_intermediate_module.hlo.pb           the module file's name
//     module_0041.jit_g.after_optimizations-buffer-assignment.txt     a module in text: "jit_g(41)"
//     module_0041.jit_g.before_optimizations.txt                      nothing of ours
//
// A module is called by its name and the number of the dump, which is XLA's id of the module in its process. Where two
// of a folder would have one name (several processes or several compiles wrote there), the later ones are called by all
// that their files' names have in common instead of the module's name. Of one module in both forms the proto is taken,
// and of a file and its .gz the plain one.
// Looks at names only; a file is opened by whoever reads it.
#pragma once

#include "analysis/input/dump_name.h"
#include "analysis/input/folder.h"
#include "analysis/input/input_file.h"

// Does the folder hold a module of a dump?
bool dump_files_any(const struct folder *folder);

// Whether the entry is one that dump_files_name may keep: a proto, or a buffer assignment in text.
bool dump_files_is_module(struct bytes file_name);

// Of `count` files that dump_files_is_module, in any order: keeps one for each module, by name, and fills kind and
// program. False at the arena's limit.
MUST_USE bool dump_files_name(struct input_file *files, size_t *count, struct arena *arena);

// The file of that part that lies beside a module's file at `path`, plain or .gz; NULL when there is none (or the arena
// is at its limit). Links are not followed: one may lead anywhere.
char *dump_files_beside(const struct storage *storage, const char *path, enum dump_part part, struct arena *arena);

// Which version of the files beside `path` is there now, for keys of a cache: changes when one comes, goes or is
// written anew. "" for what is no file of a dump; NULL at the arena's limit.
const char *dump_files_stamp(const struct storage *storage, const char *path, struct arena *arena);
