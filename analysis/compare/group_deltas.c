#include "analysis/compare/group_deltas.h"

#include <stdlib.h>

#include "analysis/compare/moved_keys.h"

// --- The groups of both ---

struct both {
    const struct compared_side *a, *b;
    struct memory_grouping grouping_a, grouping_b;
    struct memory_groups groups_a, groups_b;
};

static bool too_big(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left to compare the groups of these programs");
}

static bool group(struct both *both, enum memory_group_by by, struct arena *arena, struct error *error) {
    return memory_grouping_make(both->a->view, both->a->sources, by, arena, &both->grouping_a, error) &&
           memory_grouping_make(both->b->view, both->b->sources, by, arena, &both->grouping_b, error);
}

// Where one program needs names and the other does not, both have names.
static bool agree(struct both *both, struct arena *arena, struct error *error) {
    enum memory_group_rule a = both->grouping_a.rule, b = both->grouping_b.rule;
    if (a == b) return true;
    bool is_a = a == GROUP_RULE_LINES;
    const struct compared_side *side = is_a ? both->a : both->b;
    return memory_grouping_make_by_names(side->view, side->sources, arena, is_a ? &both->grouping_a : &both->grouping_b,
                                         error);
}

static bool sum(struct both *both, struct arena *arena, struct error *error) {
    return memory_groups_at(&both->grouping_a, memory_groups_peak_step(both->a->view), arena, &both->groups_a, error) &&
           memory_groups_at(&both->grouping_b, memory_groups_peak_step(both->b->view), arena, &both->groups_b, error);
}

// --- Rows ---

static uint64_t magnitude(int64_t delta) {
    return delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
}

static int by_delta(const void *left, const void *right) {
    const struct group_delta *x = left, *y = right;
    uint64_t of_x = magnitude(x->delta_bytes), of_y = magnitude(y->delta_bytes);
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    int order = bytes_compare(x->key, y->key);
    return order ? order : bytes_compare(x->a_key, y->a_key);
}

static void add_row(struct group_deltas *deltas, const struct memory_group *a, const struct memory_group *b) {
    struct group_delta row = {0};
    if (a) row = (struct group_delta){a->key, a->key, a->size_bytes, 0, 0, a->buffers, 0};
    if (b) {
        row.key = b->key;
        if (!a) row.a_key = b->key;
        row.b_bytes = b->size_bytes;
        row.b_buffers = b->buffers;
    }
    row.delta_bytes = row.b_bytes - row.a_bytes;
    if (row.delta_bytes == 0) {
        deltas->unchanged_count++;
        deltas->unchanged_bytes += row.b_bytes;
        return;
    }
    deltas->rows[deltas->row_count++] = row;
}

static bool list_rows(const struct both *both, const struct moved_keys *moved, struct arena *arena,
                      struct group_deltas *deltas) {
    size_t most = (size_t)both->groups_a.row_count + both->groups_b.row_count;
    deltas->rows = arena_push_raw(arena, most, sizeof *deltas->rows);
    if (!deltas->rows) return false;
    for (uint32_t i = 0; i < both->groups_a.row_count; i++) {
        uint32_t other = moved->of_a[i];
        add_row(deltas, &both->groups_a.rows[i], other == UNPAIRED ? NULL : &both->groups_b.rows[other]);
    }
    for (uint32_t i = 0; i < both->groups_b.row_count; i++) {
        if (moved->of_b[i] == UNPAIRED) add_row(deltas, NULL, &both->groups_b.rows[i]);
    }
    if (deltas->row_count) qsort(deltas->rows, deltas->row_count, sizeof *deltas->rows, by_delta);
    return true;
}

static enum moved_by moved_by(const struct group_deltas *deltas) {
    bool has_lines = deltas->by == GROUP_BY_SOURCE && deltas->rule == GROUP_RULE_LINES;
    bool has_names = deltas->by == GROUP_BY_SOURCE || deltas->by == GROUP_BY_STACK || deltas->by == GROUP_BY_SCOPE ||
                     deltas->by == GROUP_BY_ARGUMENT;
    return has_lines ? MOVED_BY_LINE : has_names ? MOVED_BY_NAME : MOVED_BY_KEY;
}

bool group_deltas_make(const struct compared_side *a, const struct compared_side *b,
                       const struct buffer_changes *changes, enum memory_group_by by, struct arena *arena,
                       struct group_deltas *deltas, struct error *error) {
    struct both *both = arena_new(arena, struct both, 1);
    struct moved_keys moved;
    *deltas = (struct group_deltas){.by = by};
    if (!both) return too_big(error);
    deltas->grouping_a = &both->grouping_a;
    deltas->grouping_b = &both->grouping_b;
    both->a = a;
    both->b = b;
    if (!group(both, by, arena, error) || !agree(both, arena, error) || !sum(both, arena, error)) return false;
    deltas->rule = both->grouping_a.rule;
    struct grouped_side of_a = {a->sources, &both->grouping_a, &both->groups_a, &changes->a};
    struct grouped_side of_b = {b->sources, &both->grouping_b, &both->groups_b, &changes->b};
    return (moved_keys_find(&of_a, &of_b, &changes->pairs, moved_by(deltas), arena, &moved) &&
            list_rows(both, &moved, arena, deltas)) ||
           too_big(error);
}
