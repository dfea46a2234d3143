// Names and order of the runs in a catalog, as XProf has them.
//
//     <root>/plugins/profile/<session>            "<session>"
//     <root>/<rel>/plugins/profile/<session>      "<rel>/<session>"
//     <root>/<rel> with loose profiles            "<rel>", and the root itself by its own name
//     a name that is taken                        "./<name>"
#pragma once

#include "analysis/input/catalog.h"

// Is the folder a direct child of some plugins/profile?
bool run_names_is_run_folder(const char *path);

// The run name of a folder at or below the root; NULL at the arena's limit.
char *run_names_make(const char *root, const char *path, struct arena *arena);

// Puts the sessions into reverse lexicographic order and makes their names differ. False at the arena's limit.
MUST_USE bool run_names_order(struct catalog *catalog, struct arena *arena);
