#include "server/trend/trend_jump.h"

#include <inttypes.h>

#include "analysis/compare/memory_diff.h"

enum { DELTAS_LIMIT_BYTES = 16 << 20 };

static bool copy_text(struct bytes *text, struct arena *arena) {
    const char *kept = arena_string(arena, *text);
    *text = (struct bytes){(const uint8_t *)(kept ? kept : ""), kept ? text->size : 0};
    return kept != NULL;
}

// The first rows, with texts of their own.
static bool keep(const struct trend_delta *rows, uint32_t count, struct arena *arena, struct trend_deltas *deltas) {
    deltas->count = count < TREND_DELTAS_MAX ? count : TREND_DELTAS_MAX;
    deltas->left_out = count - deltas->count;
    deltas->rows = arena_new(arena, struct trend_delta, deltas->count + 1);
    if (!deltas->rows) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i >= deltas->count) {
            deltas->left_out_bytes += rows[i].delta_bytes;
            continue;
        }
        deltas->rows[i] = rows[i];
        if (!copy_text(&deltas->rows[i].key, arena) || !copy_text(&deltas->rows[i].a_key, arena)) return false;
    }
    return true;
}

// --- Two programs ---

struct compared_programs {
    const struct work *asker;
    const struct trend_question *question;
    const struct found_module *a, *b;
};

struct side {
    struct memory_view view;
    struct buffer_sources sources;
};

static bool read_side(struct work *work, const struct trend_question *question, const struct found_module *found,
                      struct side *side, struct error *error) {
    const struct hlo_module *module = module_store_load(work, found, error);
    if (!module) return false;
    return memory_view_build(module, question->space, MEMORY_VIEW_EXACT, &work->arena, &side->view, error) &&
           buffer_sources_read(module, question->frameworks, &work->arena, &side->sources, error);
}

static bool compare(struct work *work, const struct compared_programs *asked, struct arena *arena,
                    struct trend_deltas *deltas, struct error *error) {
    struct side a, b;
    struct memory_diff diff;
    if (!read_side(work, asked->question, asked->a, &a, error) ||
        !read_side(work, asked->question, asked->b, &b, error))
        return false;
    const struct compared_side of_a = {&a.view, &a.sources}, of_b = {&b.view, &b.sources};
    if (!memory_diff_make(&of_a, &of_b, asked->question->by, &work->arena, &diff, error)) return false;
    struct trend_delta *rows = arena_new(&work->arena, struct trend_delta, diff.groups.row_count + 1);
    if (!rows) return work_out_of_memory(error);
    for (uint32_t i = 0; i < diff.groups.row_count; i++) {
        const struct group_delta *row = &diff.groups.rows[i];
        rows[i] = (struct trend_delta){row->key,         row->a_key,     row->a_bytes,  row->b_bytes,
                                       row->delta_bytes, row->a_buffers, row->b_buffers};
    }
    deltas->rule = diff.groups.rule;
    return keep(rows, diff.groups.row_count, arena, deltas) || work_out_of_memory(error);
}

static bool fill_deltas(const struct filling *from, void *thing, struct error *error) {
    const struct compared_programs *asked = from->of;
    struct work work;
    work_init_for(&work, asked->asker);
    bool is_good = compare(&work, asked, from->arena, thing, error);
    work_free(&work);
    return is_good;
}

static const struct stored_kind deltas_kind = {.name = "trend jump",
                                               .thing_bytes = sizeof(struct trend_deltas),
                                               .arena_limit_bytes = DELTAS_LIMIT_BYTES,
                                               .is_derived = true,
                                               .fill = fill_deltas};

static const struct trend_deltas *compare_programs(struct trend *trend, const struct found_module *a,
                                                   const struct found_module *b, struct error *error) {
    struct work *work = trend->work;
    const struct trend_question *question = &trend->question;
    const struct compared_programs asked = {work, question, a, b};
    const char *key = arena_printf(&work->arena, "%s %" PRId64 " %s %zu %s %s\n%s", deltas_kind.name, question->space,
                                   memory_group_by_name(question->by), strlen(question->frameworks),
                                   question->frameworks, a->key, b->key);
    if (key) return file_store_get(work, &deltas_kind, key, b->file, &asked, error);
    work_out_of_memory(error);
    return NULL;
}

// --- Any two points ---

static const struct trend_deltas *compare_holders(struct trend *trend, const struct trend_jump *jump) {
    static const struct trend_deltas nothing = {.count = 0};
    struct arena *arena = &trend->work->arena;
    struct trend_deltas *deltas = arena_new(arena, struct trend_deltas, 1);
    uint32_t count = 0;
    const struct trend_delta *rows = trend_deltas_make(trend->figures[jump->before], trend->figures[jump->after], arena,
                                                       &count);
    return deltas && rows && keep(rows, count, arena, deltas) ? deltas : &nothing;
}

static void compare_points(struct trend *trend, struct trend_jump *jump) {
    struct error error, *kept;
    if (trend->question.tool == TREND_PROGRAM) {
        jump->deltas = compare_programs(trend, &trend->points[jump->before].found, &trend->points[jump->after].found,
                                        &error);
        if (jump->deltas) return;
        kept = arena_new(&trend->work->arena, struct error, 1);
        if (kept) *kept = error;
        jump->reason = kept;
    }
    jump->deltas = compare_holders(trend, jump);
}

bool trend_jump_find(struct trend *trend, struct trend_jump *jump) {
    uint32_t after = trend_largest_jump(trend->figures, trend->count);
    if (after == TREND_NOWHERE) return false;
    *jump = (struct trend_jump){.before = trend_point_before(trend->figures, after), .after = after};
    const struct trend_figures *a = trend->figures[jump->before], *b = trend->figures[after];
    jump->peak_delta_bytes = b->peak_bytes - a->peak_bytes;
    jump->total_delta_bytes = a->total_bytes < 0 || b->total_bytes < 0 ? 0 : b->total_bytes - a->total_bytes;
    compare_points(trend, jump);
    return true;
}
