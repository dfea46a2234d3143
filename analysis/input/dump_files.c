#include "analysis/input/dump_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/id_map.h"

bool dump_files_is_module(struct bytes file_name) {
    enum dump_part part = dump_name_parse(file_name).part;
    return part == DUMP_PART_PROTO || part == DUMP_PART_ASSIGNMENT;
}

bool dump_files_any(const struct folder *folder) {
    for (size_t i = 0; i < folder->entry_count; i++) {
        const struct folder_entry *entry = &folder->entries[i];
        bool is_file = entry->kind == ENTRY_FILE || entry->kind == ENTRY_LINK;
        if (is_file && dump_files_is_module(bytes_of(entry->name))) return true;
    }
    return false;
}

// By stem; of one module the file to take first.
static int compare_files(const void *a, const void *b) {
    const struct input_file *left = a, *right = b;
    struct dump_name x = dump_name_parse(bytes_of(left->name)), y = dump_name_parse(bytes_of(right->name));
    int order = bytes_compare(x.stem, y.stem);
    if (order) return order;
    if (x.part != y.part) return x.part < y.part ? -1 : 1;
    return x.compressed - y.compressed;
}

static void keep_one_per_module(struct input_file *files, size_t *count) {
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct bytes stem = dump_name_parse(bytes_of(files[i].name)).stem;
        if (kept && bytes_equal(dump_name_parse(bytes_of(files[kept - 1].name)).stem, stem)) continue;
        files[kept++] = files[i];
    }
    *count = kept;
}

static char *name_of(struct bytes module, uint64_t number, struct arena *arena) {
    return arena_printf(arena, "%.*s(%" PRIu64 ")", (int)module.size, (const char *)module.data, number);
}

// The stem without the "." or "_" at its end.
static char *long_name(const struct dump_name *name, struct arena *arena) {
    return name_of((struct bytes){name->stem.data, name->stem.size - 1}, name->number, arena);
}

bool dump_files_name(struct input_file *files, size_t *count, struct arena *arena) {
    struct id_map taken;
    if (*count > 1) qsort(files, *count, sizeof *files, compare_files);
    keep_one_per_module(files, count);
    if (!id_map_init(&taken, arena, *count)) return false;
    for (size_t i = 0; i < *count; i++) {
        struct dump_name name = dump_name_parse(bytes_of(files[i].name));
        files[i].kind = name.part == DUMP_PART_PROTO ? PROFILE_FILE_DUMP_PROTO : PROFILE_FILE_DUMP_TEXT;
        files[i].program = name_of(name.module, name.number, arena);
        if (!files[i].program) return false;
        if (!id_map_put(&taken, id_map_key(bytes_of(files[i].program)), 0)) files[i].program = long_name(&name, arena);
        if (!files[i].program) return false;
    }
    return true;
}

// The files that may be beside `path`: its folder and stem, then a part's ending, plain or .gz.
struct beside {
    const struct storage *storage;
    const char *path;
    int length;
};

static struct beside beside_of(const struct storage *storage, const char *path) {
    const char *file_name = folder_last_name(path);
    size_t stem = dump_name_parse(bytes_of(file_name)).stem.size;
    return (struct beside){storage, path, stem ? (int)((size_t)(file_name - path) + stem) : 0};
}

static char *find_beside(const struct beside *beside, enum dump_part part, struct arena *arena,
                         struct file_version *version) {
    static const char *const packings[] = {"", ".gz"};
    for (size_t i = 0; i < sizeof packings / sizeof *packings && beside->length; i++) {
        char *path = arena_printf(arena, "%.*s%s%s", beside->length, beside->path, dump_part_ending(part), packings[i]);
        if (!path) return NULL;
        if (storage_look_at_file(beside->storage, path, STORAGE_SEE_LINKS, version)) return path;
    }
    return NULL;
}

char *dump_files_beside(const struct storage *storage, const char *path, enum dump_part part, struct arena *arena) {
    struct beside beside = beside_of(storage, path);
    struct file_version version;
    return *dump_part_ending(part) ? find_beside(&beside, part, arena, &version) : NULL;
}

const char *dump_files_stamp(const struct storage *storage, const char *path, struct arena *arena) {
    struct beside beside = beside_of(storage, path);
    const char *stamp = "";
    for (int part = DUMP_PART_PROGRAM; stamp && beside.length && part <= DUMP_PART_OOM_TEXT; part++) {
        struct file_version version;
        if (!find_beside(&beside, (enum dump_part)part, arena, &version)) continue;
        stamp = arena_printf(arena, "%s %d:%" PRIu64 ":%" PRId64 ".%09" PRId64 ":%" PRId64 ".%09" PRId64, stamp, part,
                             version.size_bytes, version.modified_s, version.modified_ns, version.changed_s,
                             version.changed_ns);
    }
    return stamp;
}
