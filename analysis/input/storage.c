#include "analysis/input/storage.h"

bool storage_look(const struct storage *storage, const char *path, enum storage_links links,
                  struct storage_entry *entry, struct error *error) {
    return storage->calls->look(storage, path, links, entry, error);
}

bool storage_look_at_file(const struct storage *storage, const char *path, enum storage_links links,
                          struct file_version *version) {
    struct storage_entry entry;
    struct error ignored;
    if (!storage_look(storage, path, links, &entry, &ignored) || entry.kind != ENTRY_FILE) return false;
    *version = entry.version;
    return true;
}

bool storage_list(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                  struct folder *folder, struct error *error) {
    *folder = (struct folder){0};
    return storage->calls->list(storage, path, most, arena, folder, error);
}

char *storage_resolve(const struct storage *storage, const char *path, struct arena *arena, struct error *error) {
    return storage->calls->resolve(storage, path, arena, error);
}

struct storage_link storage_follow(const struct storage *storage, const char *path, const char *root) {
    struct storage_link link = storage->calls->follow(storage, path, root);
    link.is_inside |= storage->follows_links && link.kind != ENTRY_LINK;
    return link;
}
