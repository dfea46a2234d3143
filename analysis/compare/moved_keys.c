#include "analysis/compare/moved_keys.h"

#include <stdlib.h>

#include "analysis/compare/line_names.h"

struct finder {
    const struct grouped_side *a, *b;
    struct arena *arena;
    struct moved_keys *moved;
    struct line_names names_a, names_b;  // read when two lines may be one
};

static void join(const struct finder *f, uint32_t a, uint32_t b) {
    f->moved->of_a[a] = b;
    f->moved->of_b[b] = a;
}

static struct bytes key_of_a(const struct finder *f, uint32_t row) {
    return f->a->groups->rows[row].key;
}

static struct bytes key_of_b(const struct finder *f, uint32_t row) {
    return f->b->groups->rows[row].key;
}

// --- Bytes that two groups share ---

struct share {
    uint32_t a, b;  // rows of the groups
    int64_t bytes;
};

static int by_rows(const void *left, const void *right) {
    const struct share *x = left, *y = right;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

// The rows are sorted by size and key, so the order is the same from either side but for shares of the same bytes.
static int by_bytes(const void *left, const void *right) {
    const struct share *x = left, *y = right;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return by_rows(left, right);
}

// The row of the groups that each row of the view is a member of.
static uint32_t *group_of_rows(const struct finder *f, const struct grouped_side *side) {
    const struct memory_groups *groups = side->groups;
    uint32_t most = 0;
    for (uint32_t i = 0; i < groups->member_count; i++) most = groups->members[i] > most ? groups->members[i] : most;
    uint32_t *group_of = arena_push_raw(f->arena, (size_t)most + 1, sizeof *group_of);
    if (!group_of) return NULL;
    for (uint32_t i = 0; i < groups->row_count; i++) {
        for (uint32_t m = 0; m < groups->rows[i].buffers; m++)
            group_of[groups->members[groups->rows[i].first_member + m]] = i;
    }
    return group_of;
}

static uint32_t merge(struct share *shares, uint32_t count) {
    uint32_t kept = 0;
    if (count) qsort(shares, count, sizeof *shares, by_rows);
    for (uint32_t i = 0; i < count; i++) {
        bool is_next = kept && by_rows(&shares[kept - 1], &shares[i]) == 0;
        if (is_next)
            shares[kept - 1].bytes += shares[i].bytes;
        else
            shares[kept++] = shares[i];
    }
    return kept;
}

// Of all pairs, or of those alone that the same operation makes.
static bool list_shares(const struct finder *f, const struct buffer_pairs *pairs, bool needs_op_name,
                        struct share **shares, uint32_t *count) {
    const uint32_t *group_of_a = group_of_rows(f, f->a), *group_of_b = group_of_rows(f, f->b);
    *shares = arena_push_raw(f->arena, f->a->buffers->count, sizeof **shares);
    *count = 0;
    if (!group_of_a || !group_of_b || !*shares) return false;
    for (uint32_t i = 0; i < f->a->buffers->count; i++) {
        if (pairs->of_a[i] == UNPAIRED) continue;
        const struct compared_buffer *a = &f->a->buffers->list[i], *b = &f->b->buffers->list[pairs->of_a[i]];
        if (a->row == HLO_NONE || b->row == HLO_NONE || (needs_op_name && a->op_name != b->op_name)) continue;
        int64_t bytes = a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes;
        (*shares)[(*count)++] = (struct share){group_of_a[a->row], group_of_b[b->row], bytes};
    }
    *count = merge(*shares, *count);
    return true;
}

// --- Lines that moved ---

// "train.py:53" -> "train.py:"; empty for what is no line.
static struct bytes file_of(struct bytes key) {
    size_t size = key.size;
    while (size && key.data[size - 1] >= '0' && key.data[size - 1] <= '9') size--;
    bool is_line = size && size < key.size && key.data[size - 1] == ':';
    return (struct bytes){key.data, is_line ? size : 0};
}

// Neither group has a partner, and they share half of either's bytes.
static bool is_free_and_half(const struct finder *f, const struct share *share) {
    int64_t a = f->a->groups->rows[share->a].size_bytes, b = f->b->groups->rows[share->b].size_bytes;
    return share->bytes >= (a > b ? b : a) / 2 && f->moved->of_a[share->a] == UNPAIRED &&
           f->moved->of_b[share->b] == UNPAIRED;
}

static bool may_be_move(const struct finder *f, const struct share *share) {
    struct bytes file = file_of(key_of_a(f, share->a));
    return file.size && bytes_equal(file, file_of(key_of_b(f, share->b))) && is_free_and_half(f, share);
}

static bool read_names(struct finder *f) {
    return f->names_a.arena || (line_names_read(f->a->sources, f->a->grouping, f->arena, &f->names_a) &&
                                line_names_read(f->b->sources, f->b->grouping, f->arena, &f->names_b));
}

// Asked from either side, so that the answer is the same when the programs are swapped.
static bool is_move(const struct finder *f, const struct share *share) {
    struct bytes a = key_of_a(f, share->a), b = key_of_b(f, share->b);
    return line_names_shared(&f->names_a, a, &f->names_b, b) > line_names_shared(&f->names_a, a, &f->names_b, a) &&
           line_names_shared(&f->names_b, b, &f->names_a, a) > line_names_shared(&f->names_b, b, &f->names_a, b);
}

static bool join_moved(struct finder *f, const struct buffer_pairs *pairs) {
    struct share *shares;
    uint32_t count;
    if (!list_shares(f, pairs, true, &shares, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (bytes_equal(key_of_a(f, shares[i].a), key_of_b(f, shares[i].b))) join(f, shares[i].a, shares[i].b);
    }
    if (count) qsort(shares, count, sizeof *shares, by_bytes);
    for (uint32_t i = 0; i < count; i++) {
        if (!may_be_move(f, &shares[i])) continue;
        if (!read_names(f)) return false;
        if (is_move(f, &shares[i])) join(f, shares[i].a, shares[i].b);
    }
    return true;
}

// --- What has kept its key ---

static bool join_by_key(const struct finder *f) {
    struct string_table keys;
    const struct memory_groups *a = f->a->groups, *b = f->b->groups;
    uint32_t *row_of_key = arena_push_raw(f->arena, (size_t)b->row_count + 1, sizeof *row_of_key);
    if (!row_of_key || !string_table_init(&keys, f->arena)) return false;
    for (uint32_t i = 0; i < b->row_count; i++) row_of_key[string_table_put(&keys, b->rows[i].key)] = i;
    for (uint32_t i = 0; i < a->row_count; i++) {
        uint32_t key = string_table_find(&keys, a->rows[i].key);
        if (!key || f->moved->of_a[i] != UNPAIRED || f->moved->of_b[row_of_key[key]] != UNPAIRED) continue;
        join(f, i, row_of_key[key]);
    }
    return !keys.has_failed;
}

// --- What has another name ---

// Lines have none: where they went only join_moved tells.
static bool is_name(struct bytes key) {
    return !file_of(key).size && !bytes_equal(key, MEMORY_GROUP_UNKNOWN);
}

static bool join_renamed(const struct finder *f, const struct buffer_pairs *pairs) {
    struct share *shares;
    uint32_t count;
    if (!list_shares(f, pairs, false, &shares, &count)) return false;
    if (count) qsort(shares, count, sizeof *shares, by_bytes);
    for (uint32_t i = 0; i < count; i++) {
        bool has_names = is_name(key_of_a(f, shares[i].a)) && is_name(key_of_b(f, shares[i].b));
        if (has_names && is_free_and_half(f, &shares[i])) join(f, shares[i].a, shares[i].b);
    }
    return true;
}

bool moved_keys_find(const struct grouped_side *a, const struct grouped_side *b, const struct buffer_pairs *pairs,
                     enum moved_by by, struct arena *arena, struct moved_keys *moved) {
    struct finder f = {.a = a, .b = b, .arena = arena, .moved = moved};
    moved->of_a = arena_push_raw(arena, a->groups->row_count, sizeof *moved->of_a);
    moved->of_b = arena_push_raw(arena, b->groups->row_count, sizeof *moved->of_b);
    if (!moved->of_a || !moved->of_b) return false;
    for (uint32_t i = 0; i < a->groups->row_count; i++) moved->of_a[i] = UNPAIRED;
    for (uint32_t i = 0; i < b->groups->row_count; i++) moved->of_b[i] = UNPAIRED;
    if (by == MOVED_BY_LINE && !join_moved(&f, pairs)) return false;
    return join_by_key(&f) && (by == MOVED_BY_KEY || join_renamed(&f, pairs));
}
