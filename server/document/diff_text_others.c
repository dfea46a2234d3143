#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "server/document/diff_document.h"

static int64_t delta_of(const struct diff_document *document, const struct diff_other *other) {
    return document->limits_total ? other->total_delta_bytes : other->peak_delta_bytes;
}

static int64_t figure_of(const struct diff_document *document, const struct diff_figures *figures) {
    return document->limits_total ? figures->total_bytes : figures->peak_bytes;
}

static bool is_changed(const struct diff_document *document, const struct diff_other *other) {
    return delta_of(document, other) || !other->a.module || !other->b.module;
}

static bool is_over(const struct diff_document *document, const struct diff_other *other) {
    return document->limit_bytes != DIFF_NO_LIMIT && delta_of(document, other) > document->limit_bytes;
}

// --- Rows ---

// "jit_f(2) (was jit_f(1))".
static const char *name_of(const struct diff_other *other, struct arena *arena) {
    if (!other->b.module) return arena_printf(arena, "%s (gone)", other->a.module);
    if (!other->a.module) return arena_printf(arena, "%s (new)", other->b.module);
    bool is_same = bytes_equal(bytes_of(other->a.module), bytes_of(other->b.module));
    return is_same ? other->b.module : arena_printf(arena, "%s (was %s)", other->b.module, other->a.module);
}

static void add_row(const struct diff_document *document, const struct diff_other *other, struct table *table) {
    struct arena *arena = table->arena;
    int64_t delta = delta_of(document, other);
    TABLE_ADD(table, delta ? diff_size(delta, arena) : "-",
              other->a.module ? size_string(figure_of(document, &other->a), arena) : "-",
              other->b.module ? size_string(figure_of(document, &other->b), arena) : "-", name_of(other, arena));
}

// --- Remarks ---

static void write_remarks(const struct diff_document *document, size_t left_out, size_t same, struct page *page) {
    const struct diff_others *others = document->others;
    struct arena *arena = page->arena;
    const char *remarks[3];
    size_t count = 0, over = 0, first_over = 0;
    for (size_t i = others->count; i > 0; i--) {
        if (!is_over(document, &others->rows[i - 1])) continue;
        over++;
        first_over = i - 1;
    }
    if (over)
        remarks[count++] = arena_printf(arena,
                                        "%zu of them grew by more than the limit, which is about the program above: "
                                        "--module=\"%s\" compares this one.",
                                        over, others->rows[first_over].b.module);
    if (left_out) remarks[count++] = arena_printf(arena, "%zu more changed (--top N shows more).", left_out);
    if (same) remarks[count++] = arena_printf(arena, "%zu take what they took.", same);
    page_list(page, remarks, count);
}

void diff_text_others_write(const struct diff_document *document, struct page *page) {
    static const struct table_column columns[] = {{"Change", TABLE_RIGHT, false},
                                                  {"Before", TABLE_RIGHT, false},
                                                  {"After", TABLE_RIGHT, false},
                                                  {"Program", TABLE_SHRINKING, false}};
    const struct diff_others *others = document->others;
    if (!others || !others->count) return;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    size_t most = document->top == DIFF_ALL ? others->count : (size_t)document->top, changed = 0;
    for (size_t i = 0; i < others->count; i++) {
        if (is_changed(document, &others->rows[i]) && changed++ < most) add_row(document, &others->rows[i], &table);
    }
    page_paragraph(page,
                   arena_printf(page->arena, "The other programs, by %s:", document->limits_total ? "total" : "peak"));
    page_table(page, &table);
    write_remarks(document, changed > most ? changed - most : 0, others->count - changed, page);
}
