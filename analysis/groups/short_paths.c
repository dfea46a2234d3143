#include "analysis/groups/short_paths.h"

enum { FOLDERS_MAX = 8 };  // more alike than that: the whole path

static struct bytes last_parts(struct bytes path, int parts) {
    size_t start = path.size;
    while (start && (path.data[start - 1] != '/' || --parts)) start--;
    if (!start) return path;  // an empty one may be at no address, to which nothing can be added
    return (struct bytes){path.data + start, path.size - start};
}

static bool count_names(const struct bytes *names, uint32_t count, struct arena *arena, struct string_table *known,
                        uint32_t **times) {
    *times = arena_new(arena, uint32_t, (size_t)count + 1);
    if (!*times || !string_table_init(known, arena)) return false;
    for (uint32_t i = 0; i < count; i++) (*times)[string_table_put(known, names[i])]++;
    return !known->has_failed;
}

bool short_paths_make(const struct bytes *paths, uint32_t count, struct arena *arena, struct bytes **names) {
    *names = arena_push_raw(arena, count, sizeof **names);
    if (!*names) return false;
    bool has_twins = true;
    for (uint32_t i = 0; i < count; i++) (*names)[i] = last_parts(paths[i], 1);
    for (int parts = 2; parts <= FOLDERS_MAX + 1 && has_twins; parts++) {
        struct string_table known;
        uint32_t *times;
        has_twins = false;
        if (!count_names(*names, count, arena, &known, &times)) return false;
        for (uint32_t i = 0; i < count; i++) {
            if (times[string_table_put(&known, (*names)[i])] < 2) continue;
            has_twins = true;
            (*names)[i] = parts <= FOLDERS_MAX ? last_parts(paths[i], parts) : paths[i];
        }
    }
    return true;
}
