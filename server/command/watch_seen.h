// What `hbmview watch` has looked at, and what it has told: each once.
//
//     session + its files and versions   nothing of it is new
//     session + file + its version       looked at: a file that is written anew is looked at again
//     session + program + its figures    told: the same program in a new file is not told again
//     file + what is wrong with it       complained of
//
// Kept as 64-bit keys: two of a billion might be taken for one.
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/input/catalog.h"
#include "server/command/watch_line.h"

struct watch_seen {
    struct arena arena;
    struct id_map keys;
};

MUST_USE bool watch_seen_init(struct watch_seen *seen);
void watch_seen_free(struct watch_seen *seen);

int64_t watch_key_of_session(const struct catalog_session *session);
int64_t watch_key_of_file(const char *session, const struct input_file *file);
int64_t watch_key_of_line(const struct watch_line *line);
int64_t watch_key_of_error(const struct error *error);

bool watch_knows(const struct watch_seen *seen, int64_t key);
void watch_remember(struct watch_seen *seen, int64_t key);  // where memory ends, it is told again
