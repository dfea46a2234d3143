#include "analysis/memory/buffer_description.h"
#include "server/document/diff_document.h"
#include "server/text/fields.h"

// --- The two programs ---

struct side {
    const char *session, *host;
    struct bytes module;
    int64_t peak_bytes, total_bytes, fragmentation_bytes;
};

static void write_program(const char *key, const struct diff_program *program, const struct memory_view *view,
                          struct json_writer *w) {
    static const struct field fields[] = {
        FIELD("session", struct side, session),
        FIELD("host", struct side, host),
        FIELD("module", struct side, module),
        FIELD("peak_bytes", struct side, peak_bytes),
        FIELD("total_allocation_bytes", struct side, total_bytes),
        FIELD("fragmentation_bytes", struct side, fragmentation_bytes),
        FIELD_END,
    };
    struct side side = {program->session,         program->host,
                        program->module,          view->peak_bytes,
                        view->totals.total_bytes, view->totals.total_bytes - view->peak_bytes};
    fields_write_object_key(w, key, fields, &side);
}

// --- Categories ---

struct category_row {
    const char *key;
    int64_t a_bytes, b_bytes, delta_bytes;
};

static void write_categories(const struct memory_diff *diff, struct json_writer *w) {
    static const struct field fields[] = {
        FIELD("key", struct category_row, key),
        FIELD("a_bytes", struct category_row, a_bytes),
        FIELD("b_bytes", struct category_row, b_bytes),
        FIELD("delta_bytes", struct category_row, delta_bytes),
        FIELD_END,
    };
    const int64_t *a = diff->a.view->totals.bytes, *b = diff->b.view->totals.bytes;
    json_open_object_key(w, "categories");
    json_open_array_key(w, "rows");
    for (int i = 0; i < ALLOCATION_CATEGORY_COUNT; i++) {
        struct category_row row = {allocation_category_name((enum allocation_category)i), a[i], b[i], b[i] - a[i]};
        if (i != ALLOCATION_THREAD_LOCAL && (a[i] || b[i])) fields_write_object(w, fields, &row);
    }
    json_close_array(w);
    json_close_object(w);
}

// --- Groups ---

static uint32_t at_most(uint32_t count, int top) {
    return top != DIFF_ALL && (uint32_t)top < count ? (uint32_t)top : count;
}

static void write_groups(const struct group_deltas *deltas, int top, struct json_writer *w) {
    static const struct field fields[] = {
        FIELD("key", struct group_delta, key),
        FIELD("a_key", struct group_delta, a_key),
        FIELD("a_bytes", struct group_delta, a_bytes),
        FIELD("b_bytes", struct group_delta, b_bytes),
        FIELD("delta_bytes", struct group_delta, delta_bytes),
        FIELD("a_buffers", struct group_delta, a_buffers),
        FIELD("b_buffers", struct group_delta, b_buffers),
        FIELD_END,
    };
    static const char *const rules[] = {[GROUP_RULE_LINES] = "lines", [GROUP_RULE_NAMES] = "names"};
    uint32_t shown = at_most(deltas->row_count, top);
    int64_t rest = 0;
    for (uint32_t i = shown; i < deltas->row_count; i++) rest += deltas->rows[i].delta_bytes;
    json_open_object_key(w, "groups");
    json_write_text_key(w, "by", memory_group_by_name(deltas->by));
    json_write_text_key(w, "rule", deltas->by == GROUP_BY_SOURCE ? rules[deltas->rule] : NULL);
    fields_write_objects_key(w, "rows", fields, deltas->rows, shown, sizeof *deltas->rows);
    json_write_int64_key(w, "left_out", (int64_t)deltas->row_count - shown);
    json_write_int64_key(w, "left_out_delta_bytes", rest);
    json_write_int64_key(w, "unchanged", deltas->unchanged_count);
    json_write_int64_key(w, "unchanged_bytes", deltas->unchanged_bytes);
    json_close_object(w);
}

// --- Buffers ---

struct buffer_told {
    int64_t id;
    struct bytes name, opcode, shape, source, op_name, key;
    const char *category;
    int64_t size_bytes;
};

static void write_buffer(const char *key, const struct buffer_changes *changes, const struct memory_grouping *grouping,
                         const struct compared_buffer *buffer, struct json_writer *w) {
    static const struct field fields[] = {
        FIELD_AS("logical_buffer_id", struct buffer_told, id, FIELD_KNOWN),
        FIELD("name", struct buffer_told, name),
        FIELD("size_bytes", struct buffer_told, size_bytes),
        FIELD("shape", struct buffer_told, shape),
        FIELD("source", struct buffer_told, source),
        FIELD("category", struct buffer_told, category),
        FIELD("opcode", struct buffer_told, opcode),
        FIELD("op_name", struct buffer_told, op_name),
        FIELD("key", struct buffer_told, key),
        FIELD_END,
    };
    if (!buffer) {
        fields_write_object_key(w, key, fields, NULL);
        return;
    }
    const struct memory_view *view = grouping->view;
    bool has_row = buffer->row != HLO_NONE;
    uint32_t index = buffer->row == HLO_NONE ? HLO_NONE : view->rows[buffer->row].buffer;
    struct buffer_told told = {.id = index == HLO_NONE ? -1 : view->module->buffers[index].id,
                               .name = buffer_changes_word(changes, buffer->name),
                               .opcode = buffer_changes_word(changes, buffer->opcode),
                               .shape = buffer_changes_word(changes, buffer->shape),
                               .source = buffer_changes_word(changes, buffer->source),
                               .op_name = buffer_changes_word(changes, buffer->op_name),
                               .category = allocation_category_name(buffer->category),
                               .key = has_row ? grouping->keys.texts[grouping->key_of_row[buffer->row]]
                                              : MEMORY_GROUP_UNKNOWN,
                               .size_bytes = buffer->size_bytes};
    fields_write_object_key(w, key, fields, &told);
}

static void write_change(const struct memory_diff *diff, const struct buffer_change *change, struct json_writer *w) {
    const struct buffer_changes *changes = &diff->buffers;
    json_open_object(w);
    json_write_text_key(w, "change", buffer_change_name(change->kind));
    write_buffer("a", changes, diff->groups.grouping_a, change->a == UNPAIRED ? NULL : &changes->a.list[change->a], w);
    write_buffer("b", changes, diff->groups.grouping_b, change->b == UNPAIRED ? NULL : &changes->b.list[change->b], w);
    json_write_int64_key(w, "delta_bytes", change->delta_bytes);
    json_write_bool_key(w, "is_alias", change->is_alias);
    json_close_object(w);
}

static void write_buffers(const struct memory_diff *diff, int top, struct json_writer *w) {
    const struct buffer_changes *changes = &diff->buffers;
    uint32_t shown = at_most(changes->row_count, top);
    int64_t rest = 0;
    json_open_object_key(w, "buffers");
    json_open_array_key(w, "rows");
    for (uint32_t i = 0; i < shown; i++) write_change(diff, &changes->rows[i], w);
    json_close_array(w);
    for (uint32_t i = shown; i < changes->row_count; i++) rest += changes->rows[i].delta_bytes;
    json_write_int64_key(w, "left_out", (int64_t)changes->row_count - shown);
    json_write_int64_key(w, "left_out_delta_bytes", rest);
    json_write_int64_key(w, "unchanged", changes->unchanged_count);
    json_write_int64_key(w, "unchanged_bytes", changes->unchanged_bytes);
    json_close_object(w);
}

// --- Other programs ---

static void write_other(const struct diff_other *other, struct json_writer *w) {
    static const struct field fields[] = {
        FIELD("module", struct diff_figures, module),
        FIELD("peak_bytes", struct diff_figures, peak_bytes),
        FIELD("total_allocation_bytes", struct diff_figures, total_bytes),
        FIELD_END,
    };
    json_open_object(w);
    fields_write_object_key(w, "a", fields, other->a.module ? &other->a : NULL);
    fields_write_object_key(w, "b", fields, other->b.module ? &other->b : NULL);
    json_write_int64_key(w, "peak_delta_bytes", other->peak_delta_bytes);
    json_write_int64_key(w, "total_delta_bytes", other->total_delta_bytes);
    json_close_object(w);
}

static void write_others(const struct diff_others *others, int top, struct json_writer *w) {
    uint32_t shown = at_most((uint32_t)others->count, top);
    json_open_object_key(w, "other_programs");
    json_open_array_key(w, "rows");
    for (uint32_t i = 0; i < shown; i++) write_other(&others->rows[i], w);
    json_close_array(w);
    json_write_int64_key(w, "left_out", (int64_t)others->count - shown);
    json_close_object(w);
}

// --- The whole ---

static void write_findings(const struct memory_diff *diff, struct arena *arena, struct json_writer *w) {
    static const struct field fields[] = {
        FIELD("kind", struct diff_finding_told, kind),
        FIELD("buffers", struct diff_finding_told, buffers),
        FIELD("bytes", struct diff_finding_told, bytes),
        FIELD("text", struct diff_finding_told, text),
        FIELD_END,
    };
    json_open_array_key(w, "findings");
    for (int i = 0; i < DIFF_FINDING_COUNT; i++) {
        struct diff_finding_told told;
        if (diff_finding_tell(diff, (enum diff_finding)i, arena, &told)) fields_write_object(w, fields, &told);
    }
    json_close_array(w);
}

void diff_json_write(const struct diff_document *document, struct arena *arena, struct json_writer *w) {
    const struct memory_diff *diff = document->diff;
    write_program("a", &document->a, diff->a.view, w);
    write_program("b", &document->b, diff->b.view, w);
    json_write_int64_key(w, "memory_space", document->space);
    json_write_int64_key(w, "peak_delta_bytes", diff->peak_delta_bytes);
    json_write_int64_key(w, "total_delta_bytes", diff->total_delta_bytes);
    json_write_int64_key(w, "fragmentation_delta_bytes", diff_fragmentation_delta(diff));
    write_categories(diff, w);
    write_groups(&diff->groups, document->top, w);
    write_buffers(diff, document->top, w);
    write_findings(diff, arena, w);
    if (document->others) write_others(document->others, document->top, w);
}
