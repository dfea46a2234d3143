#include "analysis/compare/buffer_changes.h"

#include <stdlib.h>

const char *buffer_change_name(enum buffer_change_kind kind) {
    static const char *const names[CHANGE_KIND_COUNT] = {[CHANGE_GAINED] = "gained",
                                                         [CHANGE_LOST] = "lost",
                                                         [CHANGE_GROWN] = "grown",
                                                         [CHANGE_SHRUNK] = "shrunk",
                                                         [CHANGE_RENAMED] = "renamed"};
    return names[kind];
}

// --- What became of a buffer ---

static bool has_same_name(const struct compared_buffer *a, const struct compared_buffer *b) {
    return a->name == b->name && a->op_name == b->op_name && a->argument == b->argument;
}

static void add_paired(struct buffer_changes *changes, uint32_t a, uint32_t b) {
    const struct compared_buffer *before = &changes->a.list[a], *after = &changes->b.list[b];
    int64_t delta = after->size_bytes - before->size_bytes;
    if (delta == 0 && has_same_name(before, after)) {
        changes->unchanged_count++;
        changes->unchanged_bytes += after->size_bytes;  // in sum at most the peak
        return;
    }
    if (delta == 0) {
        changes->renamed_count++;
        changes->renamed_bytes += after->size_bytes;
    }
    enum buffer_change_kind kind = delta > 0 ? CHANGE_GROWN : delta < 0 ? CHANGE_SHRUNK : CHANGE_RENAMED;
    changes->rows[changes->row_count++] = (struct buffer_change){kind, a, b, delta, false};
}

static void list_changes(struct buffer_changes *changes) {
    for (uint32_t i = 0; i < changes->a.count; i++) {
        if (changes->pairs.of_a[i] != UNPAIRED)
            add_paired(changes, i, changes->pairs.of_a[i]);
        else
            changes->rows[changes->row_count++] = (struct buffer_change){CHANGE_LOST, i, UNPAIRED,
                                                                         -changes->a.list[i].size_bytes, false};
    }
    for (uint32_t i = 0; i < changes->b.count; i++) {
        if (changes->pairs.of_b[i] == UNPAIRED)
            changes->rows[changes->row_count++] = (struct buffer_change){CHANGE_GAINED, UNPAIRED, i,
                                                                         changes->b.list[i].size_bytes, false};
    }
}

// --- Outputs and donated arguments ---

struct shaped {
    uint32_t shape;
    int64_t size_bytes;
    uint32_t index;
};

static int by_shape(const void *left, const void *right) {
    const struct shaped *a = left, *b = right;
    if (a->shape != b->shape) return a->shape < b->shape ? -1 : 1;
    if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct shaped shaped(const struct compared_buffer *buffer, uint32_t index) {
    return (struct shaped){buffer->shape, buffer->size_bytes, index};
}

// Arguments that are donated in `donated` and are not where they are paired with.
static uint32_t list_donated(const struct compared_buffers *donated, const struct compared_buffers *others,
                             const uint32_t *pair_of, struct shaped *found) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < donated->count; i++) {
        if (donated->list[i].category == ALLOCATION_DONATED && pair_of[i] != UNPAIRED &&
            others->list[pair_of[i]].category == ALLOCATION_PARAMETER)
            found[count++] = shaped(&donated->list[i], i);
    }
    if (count) qsort(found, count, sizeof *found, by_shape);
    return count;
}

// The rows of outputs that only one side has.
static uint32_t list_outputs(const struct buffer_changes *changes, enum buffer_change_kind kind, struct shaped *found) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < changes->row_count; i++) {
        const struct buffer_change *row = &changes->rows[i];
        if (row->kind != kind) continue;
        const struct compared_buffer *buffer = kind == CHANGE_LOST ? &changes->a.list[row->a]
                                                                   : &changes->b.list[row->b];
        if (buffer->use == BUFFER_USE_OUTPUT) found[count++] = shaped(buffer, i);
    }
    if (count) qsort(found, count, sizeof *found, by_shape);
    return count;
}

struct both {
    struct shaped *outputs, *donated;
    uint32_t output_count, donated_count;
};

static void join(const struct both *both, struct buffer_changes *changes, uint32_t *count, int64_t *bytes) {
    for (uint32_t i = 0, j = 0; i < both->output_count && j < both->donated_count;) {
        struct shaped output = both->outputs[i], donated = both->donated[j];
        output.index = donated.index = 0;
        int order = by_shape(&output, &donated);
        if (order == 0) {
            changes->rows[both->outputs[i].index].is_alias = true;
            *bytes += output.size_bytes;
            ++*count;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

static bool find_aliases(struct buffer_changes *changes, struct arena *arena) {
    size_t most = (size_t)changes->a.count + changes->b.count;
    struct both both = {arena_push_raw(arena, most, sizeof *both.outputs),
                        arena_push_raw(arena, most, sizeof *both.donated), 0, 0};
    if (!both.outputs || !both.donated) return false;
    both.output_count = list_outputs(changes, CHANGE_LOST, both.outputs);
    both.donated_count = list_donated(&changes->b, &changes->a, changes->pairs.of_b, both.donated);
    join(&both, changes, &changes->aliased_count, &changes->aliased_bytes);
    both.output_count = list_outputs(changes, CHANGE_GAINED, both.outputs);
    both.donated_count = list_donated(&changes->a, &changes->b, changes->pairs.of_a, both.donated);
    join(&both, changes, &changes->unaliased_count, &changes->unaliased_bytes);
    return true;
}

// --- Order ---

static uint64_t magnitude(int64_t delta) {
    return delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
}

static int by_delta(const void *left, const void *right) {
    const struct buffer_change *x = left, *y = right;
    uint64_t of_x = magnitude(x->delta_bytes), of_y = magnitude(y->delta_bytes);
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

bool buffer_changes_find(const struct compared_side *a, const struct compared_side *b, struct arena *arena,
                         struct buffer_changes *changes) {
    *changes = (struct buffer_changes){0};
    if (!string_table_init(&changes->words, arena) || !compared_buffers_read(a, &changes->words, arena, &changes->a) ||
        !compared_buffers_read(b, &changes->words, arena, &changes->b) ||
        !buffer_pairs_find(&changes->a, &changes->b, arena, &changes->pairs))
        return false;
    changes->rows = arena_push_raw(arena, (size_t)changes->a.count + changes->b.count, sizeof *changes->rows);
    if (!changes->rows) return false;
    list_changes(changes);
    if (!find_aliases(changes, arena)) return false;
    if (changes->row_count) qsort(changes->rows, changes->row_count, sizeof *changes->rows, by_delta);
    return true;
}
