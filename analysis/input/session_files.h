// From a folder's entries to the profile files of a session: catalog.h's session_files_list, for whoever has listed the
// folder already.
#pragma once

#include "analysis/input/catalog.h"
#include "analysis/input/folder.h"

// HLO files are taken only as SESSION_PROFILES_OR_HLO and where there is no xplane file; the modules of a dump in any
// case, but not in a run folder, whose HLO files are XProf's.
MUST_USE bool session_files_in_folder(const struct folder *folder, const char *path, const char *root,
                                      enum session_files_kind kind, struct arena *arena, struct session_files *files,
                                      struct error *error);
