#include "server/command/diff_programs.h"

#include <stdlib.h>

#include "analysis/base/string_table.h"

// --- What there is ---

// Of equal ones the first in the path.
static int by_total(const void *left, const void *right) {
    const struct report_overview_row *a = left, *b = right;
    if (a->total_bytes != b->total_bytes) return a->total_bytes > b->total_bytes ? -1 : 1;
    return (a->program > b->program) - (a->program < b->program);
}

bool diff_programs_read(struct report *report, const struct report_inventory *inventory,
                        struct diff_programs *programs) {
    *programs = (struct diff_programs){
        .rows = arena_push_raw(&report->work.arena, inventory->program_count + 1, sizeof *programs->rows)};
    if (!programs->rows) return false;
    for (size_t i = 0; i < inventory->program_count; i++) {
        progress_step(report->options.progress, "program", i + 1, inventory->program_count);
        struct report_overview_row row = report_overview_look(report, &inventory->programs[i]);
        if (!row.has_failed) programs->rows[programs->count++] = row;
    }
    if (programs->count) qsort(programs->rows, programs->count, sizeof *programs->rows, by_total);
    return true;
}

// --- Which is which ---

typedef struct bytes name_by(const struct report_overview_row *row);

static struct bytes whole_name(const struct report_overview_row *row) {
    return row->program->program->name;
}

static struct bytes module_name(const struct report_overview_row *row) {
    return row->program->program->module_name;
}

enum { NONE = 0 };  // of numbers that begin with 1

// Programs of B without a partner, by name: the first of each name, and after each the next one of its name.
struct by_name {
    struct string_table names;
    uint32_t *first, *next;  // numbers of programs
};

static bool list_by_name(const struct diff_programs *b, const bool *is_taken, name_by *name, struct arena *arena,
                         struct by_name *list) {
    list->first = arena_new(arena, uint32_t, b->count + 2);
    list->next = arena_new(arena, uint32_t, b->count + 2);
    if (!list->first || !list->next || !string_table_init(&list->names, arena)) return false;
    for (size_t k = b->count; k > 0; k--) {
        if (is_taken[k - 1]) continue;
        uint32_t number = string_table_put(&list->names, name(&b->rows[k - 1]));
        list->next[k] = list->first[number];
        list->first[number] = (uint32_t)k;
    }
    return !list->names.has_failed;
}

// `pairs` has the programs of A in their order; `is_taken` says which of B have a partner.
static bool pair_by(const struct diff_programs *b, name_by *name, struct arena *arena, const struct diff_pairs *pairs,
                    bool *is_taken) {
    struct by_name list;
    if (!list_by_name(b, is_taken, name, arena, &list)) return false;
    for (size_t i = 0; i < pairs->count; i++) {
        struct diff_pair *pair = &pairs->list[i];
        uint32_t number = pair->b ? NONE : string_table_find(&list.names, name(pair->a));
        uint32_t k = number ? list.first[number] : NONE;
        if (!k) continue;
        pair->b = &b->rows[k - 1];
        is_taken[k - 1] = true;
        list.first[number] = list.next[k];
    }
    return true;
}

static void add_the_rest(const struct diff_programs *b, const bool *is_taken, struct diff_pairs *pairs) {
    for (size_t k = 0; k < b->count; k++) {
        if (!is_taken[k]) pairs->list[pairs->count++] = (struct diff_pair){NULL, &b->rows[k]};
    }
}

static const struct diff_pair *first_whole(const struct diff_pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) {
        if (pairs->list[i].a && pairs->list[i].b) return &pairs->list[i];
    }
    return NULL;
}

bool diff_programs_pair(const struct diff_programs *a, const struct diff_programs *b, struct arena *arena,
                        struct diff_pairs *pairs) {
    bool *is_taken = arena_new(arena, bool, b->count + 1);
    *pairs = (struct diff_pairs){.list = arena_new(arena, struct diff_pair, a->count + b->count + 1)};
    if (!is_taken || !pairs->list) return false;
    for (size_t i = 0; i < a->count; i++) pairs->list[pairs->count++].a = &a->rows[i];
    if (!pair_by(b, whole_name, arena, pairs, is_taken) || !pair_by(b, module_name, arena, pairs, is_taken))
        return false;
    bool are_largest_alone = a->count && b->count && !pairs->list[0].b && !is_taken[0];
    if (are_largest_alone) {
        pairs->list[0].b = &b->rows[0];
        is_taken[0] = true;
    }
    pairs->compared = first_whole(pairs);
    add_the_rest(b, is_taken, pairs);
    return true;
}

// --- What the others take ---

// In the memory space that is compared, which need not be the fullest one of this program.
static struct diff_figures figures_of(const struct report_overview_row *row, struct report *report, int64_t space) {
    if (!row) return (struct diff_figures){0};
    struct report_overview_row found = *row;
    if (row->has_space && row->space != space) {
        report->options.space = space;
        found = report_overview_look(report, row->program);
    }
    return (struct diff_figures){row->program->name, found.peak_bytes, found.total_bytes};
}

static uint64_t magnitude(int64_t delta) {
    return delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
}

static struct bytes name_of(const struct diff_other *other) {
    return bytes_of(other->b.module ? other->b.module : other->a.module);
}

// What grew before what shrank by as much.
static int by_delta(const void *left, const void *right) {
    const struct diff_other *x = left, *y = right;
    uint64_t of_x = magnitude(x->peak_delta_bytes), of_y = magnitude(y->peak_delta_bytes);
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    if (x->peak_delta_bytes != y->peak_delta_bytes) return x->peak_delta_bytes > y->peak_delta_bytes ? -1 : 1;
    return bytes_compare(name_of(x), name_of(y));
}

bool diff_programs_tell(const struct diff_pairs *pairs, struct report *a, struct report *b, int64_t space,
                        struct diff_others *others) {
    *others = (struct diff_others){.rows = arena_push_raw(&a->work.arena, pairs->count, sizeof *others->rows)};
    if (!others->rows) return false;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct diff_pair *pair = &pairs->list[i];
        if (pair == pairs->compared) continue;
        struct diff_other other = {.a = figures_of(pair->a, a, space), .b = figures_of(pair->b, b, space)};
        other.peak_delta_bytes = other.b.peak_bytes - other.a.peak_bytes;
        other.total_delta_bytes = other.b.total_bytes - other.a.total_bytes;
        others->rows[others->count++] = other;
    }
    if (others->count) qsort(others->rows, others->count, sizeof *others->rows, by_delta);
    return true;
}
