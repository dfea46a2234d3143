// A small file of the user's, whole: credentials, a token. Not for profiles.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

enum { SMALL_FILE_BYTES_MAX = 256 << 10 };

MUST_USE bool small_file_read(const char *path, struct arena *arena, struct bytes *content, struct error *error);
