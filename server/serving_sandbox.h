// The sandbox of the serving command: what of this machine it needs while it serves, as its options say.
//
//     --logdir on disk      is read; with --follow_symlinks everything is, for links lead anywhere
//     --logdir in a bucket  connections; certificates and credentials (storage_files.h) are read, --disk_cache is kept
//     --web_dir             is read, and the library that the page takes from beside it
//     --unix_socket         its file is removed at the end
#pragma once

#include "server/options.h"

struct arena;

// Enters it, unless --no_sandbox, and says so on stderr with --verbose, or when a part of it does not hold. To be
// called while there is one thread, when everything else is open. False: no memory.
bool serving_sandbox_enter(const struct options *options, struct arena *arena);
