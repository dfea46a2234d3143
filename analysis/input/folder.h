// What lies in one folder: its entries by name, sorted, with what they are, as a storage lists them (storage.h).
#pragma once

#include "analysis/base/arena.h"
#include "analysis/input/file_version.h"

enum entry_kind { ENTRY_FILE, ENTRY_FOLDER, ENTRY_LINK, ENTRY_OTHER };

struct folder_entry {
    char *name;
    enum entry_kind kind;
};

struct folder {
    struct folder_entry *entries;  // by name, bytewise; without "." and ".."
    size_t entry_count;
    bool has_more;  // there are more than were asked for
    struct file_version version;
};

// Puts the entries into their order.
void folder_sort(struct folder *folder);

// "path/name" on the arena; NULL at its limit.
char *folder_join(struct arena *arena, const char *path, const char *name);

// Whether `path` is `root` or lies below it, both resolved.
bool folder_is_below(const char *path, const char *root);

// What follows the last "/".
const char *folder_last_name(const char *path);
