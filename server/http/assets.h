// The files of the page: embedded in the program (gzipped at build time), or read from --web_dir for development.
#pragma once

#include "server/http/reply.h"

enum { ASSET_FILE_LIMIT_BYTES = 16 << 20 };

// Fills the reply with the asset of `path` ("index.html", "js/main.js"). ERROR_NOT_FOUND when there is none.
MUST_USE bool assets_reply(struct request *request, const char *path, struct reply *reply, struct error *error);

// Whether `path` stays below a folder: no "..", no empty or hidden part, no backslash.
bool assets_path_is_plain(const char *path);
