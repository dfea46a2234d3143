#include "server/storage/object_tree.h"

#include <stdlib.h>

#include "analysis/base/growing_array.h"
#include "server/storage/crypto.h"

static int compare_objects(const void *a, const void *b) {
    return strcmp(((const struct stored_object *)a)->name, ((const struct stored_object *)b)->name);
}

void object_tree_sort(struct object_tree *tree) {
    if (tree->object_count < 2) return;
    qsort(tree->objects, tree->object_count, sizeof *tree->objects, compare_objects);
    size_t kept = 1;
    for (size_t i = 1; i < tree->object_count; i++) {
        if (strcmp(tree->objects[i].name, tree->objects[kept - 1].name) != 0) tree->objects[kept++] = tree->objects[i];
    }
    tree->object_count = kept;
}

// How many names come before `name`, and with `is_after` also those that begin with it.
static size_t place_of(const struct object_tree *tree, struct bytes name, bool is_after) {
    size_t low = 0, high = tree->object_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct bytes there = bytes_of(tree->objects[middle].name);
        bool is_before = bytes_compare(there, name) < 0 || (is_after && bytes_starts_with(there, name));
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct stored_object *object_tree_find(const struct object_tree *tree, const char *name) {
    size_t at = place_of(tree, bytes_of(name), false);
    bool is_there = at < tree->object_count && strcmp(tree->objects[at].name, name) == 0;
    return is_there ? &tree->objects[at] : NULL;
}

bool object_tree_covers(const struct object_tree *tree, const char *name) {
    if (tree->extent == TREE_ALL) return bytes_starts_with(bytes_of(name), bytes_of(tree->prefix));
    if (tree->extent == TREE_VAST) return false;
    bool is_folder = !*name || bytes_ends_with(bytes_of(name), BYTES("/"));
    return is_folder ? strcmp(name, tree->prefix) == 0 : object_tree_find(tree, name) != NULL;
}

// The objects below a folder, as a range of the list.
struct range {
    size_t begin, end;
    size_t skipped;  // bytes of the folder's name and the "/" after it
};

static struct range below(const struct object_tree *tree, const char *name, struct arena *arena) {
    size_t size = strlen(name);
    if (size == 0) return (struct range){0, tree->object_count, 0};
    const char *prefix = arena_printf(arena, "%s/", name);
    if (!prefix) return (struct range){0, 0, 0};
    return (struct range){place_of(tree, bytes_of(prefix), false), place_of(tree, bytes_of(prefix), true), size + 1};
}

// Changes with every object below.
static struct file_version version_of(const struct object_tree *tree, const char *name, const struct range *range) {
    struct file_version version = {.device = crypto_fingerprint(bytes_of(name))};
    for (size_t i = range->begin; i < range->end; i++) {
        struct file_version of = tree->objects[i].version;
        version.inode = version.inode * 0x9e3779b97f4a7c15u + (of.device ^ of.inode) + of.size_bytes;
        if (of.modified_s > version.modified_s) version.modified_s = of.modified_s;
    }
    version.size_bytes = range->end - range->begin;
    return version;
}

bool object_tree_look(const struct object_tree *tree, const char *name, struct storage_entry *entry) {
    const struct stored_object *object = object_tree_find(tree, name);
    if (object) {
        *entry = (struct storage_entry){ENTRY_FILE, object->version};
        return true;
    }
    struct arena arena;
    arena_init(&arena, 0);
    struct range range = below(tree, name, &arena);
    arena_free(&arena);
    *entry = (struct storage_entry){ENTRY_FOLDER, version_of(tree, name, &range)};
    return range.begin < range.end;
}

bool object_tree_list(const struct object_tree *tree, const char *name, size_t most, struct arena *arena,
                      struct folder *folder) {
    struct range range = below(tree, name, arena);
    struct bytes last = BYTES("");
    *folder = (struct folder){.version = version_of(tree, name, &range)};
    for (size_t i = range.begin; i < range.end; i++) {
        struct bytes rest = bytes_of(tree->objects[i].name + range.skipped);
        const uint8_t *slash = memchr(rest.data, '/', rest.size);
        struct bytes part = {rest.data, slash ? (size_t)(slash - rest.data) : rest.size};
        if (slash && bytes_equal(part, last)) continue;
        if (slash) last = part;
        folder->has_more = folder->entry_count == most;
        if (folder->has_more) break;
        struct folder_entry entry = {arena_string(arena, part), slash ? ENTRY_FOLDER : ENTRY_FILE};
        if (!entry.name || !growing_array_add(arena, folder->entries, folder->entry_count, entry)) return false;
    }
    folder_sort(folder);
    return true;
}
