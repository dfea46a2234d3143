// XProf's session_path and run_path: folders named in the URL instead of a session of the list. XProf opens any path on
// the machine; here both must lie inside the log directory, symbolic links resolved.
//
//     session_path=/logs/plugins/profile/a    one session, named "a"
//     run_path=/logs/plugins/profile          each child folder that holds an xplane file
//
// No state.
#pragma once

#include "analysis/input/catalog.h"

// Which session is meant: by name; or, as in XProf's URLs, one folder (session_path), or a child of a folder
// (run_path). Both must lie inside the log directory. NULL when absent.
struct session_place {
    const char *name, *session_path, *run_path;
};

struct name_list {
    const char **names;
    size_t count, left_out_count;  // what could not be looked into
};

// The session place->name of the place. Its strings are on `arena`. ERROR_NOT_FOUND when there is none inside the root.
MUST_USE bool place_find(const struct catalog *catalog, const struct session_place *place, struct arena *arena,
                         struct catalog_session *session, struct error *error);

// The names of all sessions of the place, in reverse order; none when the folder is not there.
MUST_USE bool place_names(const struct catalog *catalog, const struct session_place *place, struct arena *arena,
                          struct name_list *list, struct error *error);
