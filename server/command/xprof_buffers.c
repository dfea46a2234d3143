#include "server/command/xprof_buffers.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;   // of the first
    size_t base_bytes;  // of it, before the number; 0: it is not one of several
    double size_mib;
    size_t count, order;
};

// "fusion.12" is "fusion"; 0: the name is not of that form.
static size_t base_of(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", digits[] = "0123456789";
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    bool is_name = size && strchr(letters, name[0]), has_number = name[size] == '.' && name[size + 1];
    return is_name && has_number && !name[size + 1 + strspn(name + size + 1, digits)] ? size : 0;
}

static bool is_one_row(const struct row *row, const char *name, size_t base_bytes, double size_mib) {
    if (row->size_mib != size_mib || row->base_bytes != base_bytes) return false;
    return base_bytes ? strncmp(row->name, name, base_bytes) == 0 : strcmp(row->name, name) == 0;
}

static struct row *find(struct row *rows, size_t count, const char *name, size_t base_bytes, double size_mib) {
    for (size_t i = 0; i < count; i++) {
        if (is_one_row(&rows[i], name, base_bytes, size_mib)) return &rows[i];
    }
    return NULL;
}

static int larger_first(const void *a, const void *b) {
    const struct row *left = a, *right = b;
    if (left->size_mib * (double)left->count != right->size_mib * (double)right->count)
        return left->size_mib * (double)left->count < right->size_mib * (double)right->count ? 1 : -1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static const char *label_of(const struct row *row, struct arena *arena) {
    if (row->count < 2) return row->name;
    int base_bytes = (int)(row->base_bytes ? row->base_bytes : strlen(row->name));
    return arena_printf(arena, "%.*s%s (%zu occurrences of size %g MiB)", base_bytes, row->name,
                        row->base_bytes ? ".*" : "", row->count, row->size_mib);
}

static json_t *list_of(const struct row *rows, size_t count, struct arena *arena) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const char *label = label_of(&rows[i], arena);
        json_array_append_new(list, json_pack("{s:s, s:f}", "instruction", label ? label : "", "size_mib",
                                              rows[i].size_mib * (double)rows[i].count));
    }
    return list;
}

json_t *xprof_buffers(const json_t *max_heap, const struct xprof_merging *merging, struct arena *arena) {
    size_t all = json_array_size(max_heap), count = 0;
    struct row *rows = arena_new(arena, struct row, all + 1);
    double others_mib = 0;
    for (size_t i = 0; rows && i < all; i++) {
        const json_t *buffer = json_array_get(max_heap, i);
        double size_mib = json_number_value(json_object_get(buffer, "logicalBufferSizeMib"));
        const char *name = json_string_value(json_object_get(buffer, "instructionName"));
        if (!name) name = "unknown";
        bool is_other = merging->is_on && size_mib < merging->min_size_mib;
        if (is_other) others_mib += size_mib;
        if (is_other) continue;
        size_t base_bytes = base_of(name);
        struct row *known = merging->is_on ? find(rows, count, name, base_bytes, size_mib) : NULL;
        if (known)
            known->count++;
        else
            rows[count] = (struct row){name, base_bytes, size_mib, 1, count}, count++;
    }
    if (rows && others_mib > 0) {
        const char *name = arena_printf(arena, "Others (< %s MiB)", merging->min_size_text);
        rows[count] = (struct row){name ? name : "Others", 0, others_mib, 1, count};
        count++;
    }
    if (rows) qsort(rows, count, sizeof *rows, larger_first);
    return rows ? list_of(rows, count, arena) : NULL;
}
