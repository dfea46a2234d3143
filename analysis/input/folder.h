// What lies in one folder: its entries by name, sorted, with what they are. Follows no link; reads no file.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/input/file_version.h"

enum folder_entry_kind { FOLDER_ENTRY_FILE, FOLDER_ENTRY_FOLDER, FOLDER_ENTRY_LINK, FOLDER_ENTRY_OTHER };

struct folder_entry {
    char *name;
    enum folder_entry_kind kind;
};

struct folder {
    struct folder_entry *entries;  // by name, bytewise; without "." and ".."
    size_t entry_count;
    bool has_more;  // there are more than `most` entries
    struct file_version version;
};

// Reads at most `most` entries.
MUST_USE bool folder_list(const char *path, size_t most, struct arena *arena, struct folder *folder,
                          struct error *error);

// "path/name" on the arena; NULL at its limit.
char *folder_join(struct arena *arena, const char *path, const char *name);

// The absolute path without links, "." and ".."; NULL and errno when there is none.
char *folder_resolve(const char *path, struct arena *arena);

// Where a link leads: FOLDER_ENTRY_LINK as its kind means nowhere.
struct folder_link {
    enum folder_entry_kind kind;
    bool is_inside;  // the target is below the root
};

// Follows the link at `path`; `root` is absolute and resolved.
struct folder_link folder_follow_link(const char *path, const char *root);
