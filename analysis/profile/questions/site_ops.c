#include "analysis/profile/questions/site_ops.h"

#include "analysis/base/id_map.h"

// Texts are interned mostly, so that the place of a text says which it is, whatever its length.
struct finder {
    struct id_map by_place, by_text;
    struct site_ops *ops;
};

static int64_t place_key(struct bytes text) {
    return (int64_t)((uint64_t)(uintptr_t)text.data ^ (uint64_t)text.size << 48);
}

static uint32_t find_text(struct finder *f, struct bytes text) {
    int64_t key = id_map_key(text);
    uint32_t found = id_map_get(&f->by_text, key);
    if (found != ID_MAP_NONE && bytes_equal(f->ops->names[found], text)) return found;
    f->ops->names[f->ops->count] = text;
    id_map_put(&f->by_text, key, f->ops->count);
    return f->ops->count++;
}

static bool is_same_place(struct bytes a, struct bytes b) {
    return a.data == b.data && a.size == b.size;
}

static uint32_t find(struct finder *f, const struct allocation_site *sites, struct bytes text, uint32_t site) {
    int64_t key = place_key(text);
    uint32_t first = id_map_get(&f->by_place, key);
    if (first != ID_MAP_NONE && is_same_place(sites[first].op, text)) return f->ops->op_of_site[first];
    id_map_put(&f->by_place, key, site);
    return find_text(f, text);
}

bool site_ops_make(const struct allocation_sites *sites, struct arena *arena, struct site_ops *ops,
                   struct error *error) {
    *ops = (struct site_ops){0};
    struct finder f = {.ops = ops};
    ops->op_of_site = arena_push_raw(arena, sites->count, sizeof *ops->op_of_site);
    ops->names = arena_push_raw(arena, sites->count, sizeof *ops->names);
    if (!ops->op_of_site || !ops->names || !id_map_init(&f.by_place, arena, sites->count) ||
        !id_map_init(&f.by_text, arena, sites->count)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left to tell the ops of %u allocation sites apart",
                         sites->count);
    }
    for (uint32_t i = 0; i < sites->count; i++) {
        struct bytes op = sites->sites[i].op;
        ops->op_of_site[i] = find(&f, sites->sites, op.size ? op : (struct bytes){0}, i);
    }
    return true;
}
