// The files of the page, embedded in the program (gzipped at build time):
//
//     index.html      may be another one tomorrow: the browser asks every time (ETag, 304)
//     assets/...      named by a hash of what is in them: kept by the browser for good
//
// or those of --web_dir, for development: the page's sources as they are.
#pragma once

#include "server/http/reply.h"

enum { ASSET_FILE_LIMIT_BYTES = 16 << 20 };

#define ASSETS_HASHED "assets/"

bool assets_are_embedded(const char *path);

// Whether assets_reply of it waits for no file and inflates nothing; then what it needs is pinned to the request's
// work.
bool assets_are_at_hand(struct request *request, const char *path);

// Fills the reply with the asset of `path` ("index.html", "assets/main-2K7Q.js"). ERROR_NOT_FOUND when there is none.
MUST_USE bool assets_reply(struct request *request, const char *path, struct reply *reply, struct error *error);

// Beside --web_dir: uPlot comes from node_modules, as it does for the embedded page. On `arena`; NULL without memory.
const char *assets_library_folder(const char *web_dir, struct arena *arena);

// Whether `path` stays below a folder: no "..", no empty or hidden part, no backslash.
bool assets_path_is_plain(const char *path);
