#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "analysis/base/text_writer.h"
#include "server/document/diff_document.h"
#include "server/text/printable.h"

// Changes that differ in the buffers' names only are one row.
struct kind {
    const struct buffer_change *first;
    uint32_t count;
};

struct kinds {
    struct kind *list;
    uint32_t count, most;
    uint32_t changes;  // in all of them
    struct string_table known;
    uint32_t *kind_of;  // by the number of what it looks like
};

static const struct compared_buffer *before(const struct memory_diff *diff, const struct buffer_change *change) {
    return change->a == UNPAIRED ? NULL : &diff->buffers.a.list[change->a];
}

static const struct compared_buffer *after(const struct memory_diff *diff, const struct buffer_change *change) {
    return change->b == UNPAIRED ? NULL : &diff->buffers.b.list[change->b];
}

static struct bytes looks_of(const struct memory_diff *diff, const struct buffer_change *change, struct arena *arena) {
    const struct compared_buffer *sides[] = {before(diff, change), after(diff, change)};
    struct text_writer text = {.arena = arena};
    text_put_int64(&text, (int64_t)change->kind * 2 + change->is_alias);
    for (int i = 0; i < 2; i++) {
        const struct compared_buffer none = {0}, *side = sides[i] ? sides[i] : &none;
        const int64_t parts[] = {side->size_bytes, side->category, side->shape, side->source};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            text_put(&text, "|");
            text_put_int64(&text, parts[p]);
        }
    }
    return text_writer_bytes(&text);
}

static bool list_kinds(const struct memory_diff *diff, int top, struct arena *arena, struct kinds *kinds) {
    uint32_t all = diff->buffers.row_count - diff->buffers.renamed_count;  // those come last
    *kinds = (struct kinds){.most = top == DIFF_ALL ? all : (uint32_t)top};
    if (kinds->most > all) kinds->most = all;
    kinds->list = arena_push_raw(arena, kinds->most, sizeof *kinds->list);
    kinds->kind_of = arena_push_raw(arena, (size_t)all + 1, sizeof *kinds->kind_of);
    if (!kinds->list || !kinds->kind_of || !string_table_init(&kinds->known, arena)) return false;
    for (uint32_t i = 0; i < all && kinds->most; i++) {
        const struct buffer_change *change = &diff->buffers.rows[i];
        uint32_t known = kinds->known.count, number = string_table_put(&kinds->known, looks_of(diff, change, arena));
        bool is_new = kinds->known.count > known;
        if (kinds->known.has_failed || (is_new && kinds->count == kinds->most)) break;
        if (is_new) kinds->list[kinds->kind_of[number] = kinds->count++] = (struct kind){change, 0};
        kinds->list[kinds->kind_of[number]].count++;
        kinds->changes++;
    }
    return !kinds->known.has_failed;
}

// --- Rows ---

struct writer {
    const struct memory_diff *diff;
    struct table table;
    struct arena *arena;
};

static const char *word(const struct writer *w, uint32_t number) {
    return printable_text(buffer_changes_word(&w->diff->buffers, number), w->arena);
}

// "f32[8]", or "f32[8] -> f32[16]" of what differs.
static const char *both_words(const struct writer *w, uint32_t a, uint32_t b) {
    if (a == b || !b) return word(w, a);
    return a ? arena_printf(w->arena, "%s -> %s", word(w, a), word(w, b)) : word(w, b);
}

static void add_kind(struct writer *w, const struct kind *kind) {
    const struct buffer_change *change = kind->first;
    const struct compared_buffer none = {0}, *a = before(w->diff, change), *b = after(w->diff, change);
    struct arena *arena = w->arena;
    const char *delta = diff_size(change->delta_bytes, arena);
    if (kind->count > 1) delta = arena_printf(arena, "%" PRIu32 " x %s", kind->count, delta);
    const char *name = word(w, b ? b->name : a->name);
    if (kind->count > 1) name = arena_printf(arena, "%s +%" PRIu32, name, kind->count - 1);
    const struct compared_buffer *old = a ? a : &none, *new = b ? b : &none;
    TABLE_ADD(&w->table, delta, change->is_alias ? "alias" : buffer_change_name(change->kind),
              allocation_category_name((b ? b : a)->category), name, both_words(w, old->source, new->source),
              both_words(w, old->shape, new->shape), word(w, (b ? b : a)->op_name));
}

static const char *title(const struct memory_diff *diff, const struct kinds *kinds, struct arena *arena) {
    uint32_t all = diff->buffers.row_count - diff->buffers.renamed_count, shown = kinds->changes;
    const char *rows = kinds->count < shown ? ", equal ones in one row" : "";
    if (shown == 0) return arena_printf(arena, "Buffers that changed: %" PRIu32 "; --top N lists the largest.", all);
    if (shown == all) return arena_printf(arena, "All %" PRIu32 " buffers that changed%s:", all, rows);
    return arena_printf(
        arena, "The largest %" PRIu32 " of %" PRIu32 " buffers that changed%s (--top N for more):", shown, all, rows);
}

static void write_remarks(const struct buffer_changes *changes, struct page *page) {
    const char *remarks[2];
    size_t count = 0;
    if (changes->renamed_count)
        remarks[count++] = arena_printf(
            page->arena, "%" PRIu32 " buffers of %s have the same size under another name (--format json lists them).",
            changes->renamed_count, size_string(changes->renamed_bytes, page->arena));
    if (changes->unchanged_count)
        remarks[count++] = arena_printf(page->arena, "%" PRIu32 " buffers of %s are the same.",
                                        changes->unchanged_count, size_string(changes->unchanged_bytes, page->arena));
    page_list(page, remarks, count);
}

void diff_text_buffers_write(const struct memory_diff *diff, int top, struct page *page) {
    static const struct table_column columns[] = {
        {"Change", TABLE_RIGHT, false},     {"", TABLE_LEFT, false},
        {"Category", TABLE_LEFT, false},    {"Buffer", TABLE_SHRINKING, false},
        {"Source", TABLE_SHRINKING, false}, {"Shape", TABLE_BELOW, false},
        {"Operation", TABLE_BELOW, false}};
    struct writer w = {diff, table_make(columns, sizeof columns / sizeof *columns, page->arena), page->arena};
    struct kinds kinds;
    bool has_rows = diff->buffers.row_count > diff->buffers.renamed_count;
    if (has_rows && list_kinds(diff, top, page->arena, &kinds)) {
        page_paragraph(page, title(diff, &kinds, page->arena));
        for (uint32_t i = 0; i < kinds.count; i++) add_kind(&w, &kinds.list[i]);
        page_table(page, &w.table);
    }
    write_remarks(&diff->buffers, page);
}
