// Names of the runs in a catalog, as XProf has them.
//
//     <root>/plugins/profile/<session>            "<session>"
//     <root>/<rel>/plugins/profile/<session>      "<rel>/<session>"
//     <root>/<rel> with loose profiles            "<rel>", and the root itself by its own name
//
// Where two would have one name, the catalog puts "./" before the later one.
#pragma once

#include "analysis/base/arena.h"

// Is the folder a direct child of some plugins/profile?
bool run_names_is_run_folder(const char *path);

// The run name of a folder at or below the root; NULL at the arena's limit.
char *run_names_make(const char *root, const char *path, struct arena *arena);
