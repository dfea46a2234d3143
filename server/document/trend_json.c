#include "server/document/remark_fields.h"
#include "server/document/trend_document.h"
#include "server/text/fields.h"
#include "server/text/error_json.h"

// --- Points ---

struct point_row {
    const char *session, *file, *time_from, *state, *reason, *reason_file, *host;
    struct bytes name;
    int64_t time_s, peak_bytes, peak_delta_bytes, total_bytes, total_delta_bytes;
    uint32_t of;
    bool is_ready, has_total, has_before, has_total_before;
};

static const struct field point_fields[] = {
    FIELD("session", struct point_row, session),
    FIELD("file", struct point_row, file),
    FIELD("time_s", struct point_row, time_s),
    FIELD("time_from", struct point_row, time_from),
    FIELD("state", struct point_row, state),
    FIELD("reason", struct point_row, reason),
    FIELD("reason_file", struct point_row, reason_file),
    FIELD("host", struct point_row, host),
    FIELD_IF("name", struct point_row, name, is_ready),
    FIELD("of", struct point_row, of),
    FIELD_IF("peak_bytes", struct point_row, peak_bytes, is_ready),
    FIELD_IF("peak_delta_bytes", struct point_row, peak_delta_bytes, has_before),
    FIELD_IF("total_allocation_bytes", struct point_row, total_bytes, has_total),
    FIELD_IF("total_delta_bytes", struct point_row, total_delta_bytes, has_total_before),
    FIELD_END,
};

static struct point_row row_of(const struct trend *trend, uint32_t at) {
    const struct trend_point *point = &trend->points[at];
    struct point_row row = {.session = point->session,
                            .file = point->file,
                            .time_from = point->is_time_of_name ? "name" : "modified",
                            .state = trend_state_names[point->state],
                            .host = point->host,
                            .name = point->name,
                            .time_s = point->time_s,
                            .of = point->of,
                            .is_ready = point->figures != NULL};
    if (point->reason) {
        row.reason = point->reason->message;
        row.reason_file = point->reason->file[0] ? point->reason->file : NULL;
    }
    if (!point->figures) return row;
    row.peak_bytes = point->figures->peak_bytes;
    row.total_bytes = point->figures->total_bytes;
    row.has_total = row.total_bytes != TREND_UNKNOWN;
    uint32_t before = trend_point_before(trend->figures, at);
    row.has_before = before != TREND_NOWHERE;
    if (!row.has_before) return row;
    row.peak_delta_bytes = row.peak_bytes - trend->figures[before]->peak_bytes;
    row.total_delta_bytes = row.total_bytes - trend->figures[before]->total_bytes;
    row.has_total_before = row.has_total && trend->figures[before]->total_bytes != TREND_UNKNOWN;
    return row;
}

static bool write_points(const struct trend *trend, struct arena *arena, struct json_writer *w) {
    struct point_row *rows = arena_new(arena, struct point_row, (size_t)trend->count + 1);
    if (!rows) return false;
    for (uint32_t i = 0; i < trend->count; i++) rows[i] = row_of(trend, i);
    json_open_object_key(w, "points");
    fields_write_columns(w, point_fields, rows, trend->count, sizeof *rows, NULL);
    json_close_object(w);
    return true;
}

// --- Lines ---

static void write_numbers(const int64_t *numbers, const struct trend *trend, struct json_writer *w) {
    json_open_array(w);
    for (uint32_t i = 0; i < trend->count; i++) {
        if (trend->figures[i])
            json_write_int64(w, numbers[i]);
        else
            json_write_null(w);
    }
    json_close_array(w);
}

static bool write_lines(const struct trend_document *document, struct arena *arena, struct json_writer *w) {
    const struct trend *trend = document->trend;
    struct trend_lines lines;
    if (!trend_lines_make(trend->figures, trend->count, document->line_count, arena, &lines)) return false;
    json_open_object_key(w, "lines");
    json_open_array_key(w, "key");
    for (uint32_t i = 0; i < lines.count; i++) json_write_string(w, lines.keys[i]);
    json_close_array(w);
    json_open_array_key(w, "bytes");
    for (uint32_t i = 0; i < lines.count; i++) write_numbers(lines.bytes + (size_t)i * trend->count, trend, w);
    json_close_array(w);
    json_key(w, "rest_bytes");
    write_numbers(lines.rest_bytes, trend, w);
    json_close_object(w);
    return true;
}

// --- The jump ---

static const struct field delta_fields[] = {
    FIELD("key", struct trend_delta, key),
    FIELD("a_key", struct trend_delta, a_key),
    FIELD("a_bytes", struct trend_delta, a_bytes),
    FIELD("b_bytes", struct trend_delta, b_bytes),
    FIELD("delta_bytes", struct trend_delta, delta_bytes),
    FIELD("a_buffers", struct trend_delta, a_buffers),
    FIELD("b_buffers", struct trend_delta, b_buffers),
    FIELD_END,
};

static void write_place(const char *key, const struct trend *trend, uint32_t at, struct json_writer *w) {
    const struct trend_point *point = &trend->points[at];
    json_open_object_key(w, key);
    json_write_int64_key(w, "point", at);
    json_write_text_key(w, "session", point->session);
    json_write_text_key(w, "file", point->file);
    json_write_text_key(w, "host", point->host);
    json_write_string_key(w, "name", point->name);
    json_close_object(w);
}

static void write_deltas(const struct trend_deltas *deltas, struct json_writer *w) {
    json_open_object_key(w, "groups");
    fields_write_objects_key(w, "rows", delta_fields, deltas->rows, deltas->count, sizeof *deltas->rows);
    json_write_int64_key(w, "left_out", deltas->left_out);
    json_write_int64_key(w, "left_out_delta_bytes", deltas->left_out_bytes);
    json_close_object(w);
}

static void write_jump(const struct trend_document *document, struct arena *arena, struct json_writer *w) {
    const struct trend_jump *jump = document->jump;
    if (!jump) {
        json_key(w, "jump");
        json_write_null(w);
        return;
    }
    bool is_program = document->trend->question.tool == TREND_PROGRAM;
    json_open_object_key(w, "jump");
    write_place("before", document->trend, jump->before, w);
    write_place("after", document->trend, jump->after, w);
    json_write_int64_key(w, "peak_delta_bytes", jump->peak_delta_bytes);
    json_write_known_key(w, "total_delta_bytes", is_program, jump->total_delta_bytes);
    write_deltas(jump->deltas, w);
    error_json_write(w, jump->reason);
    json_write_text_key(w, "text", trend_jump_text(document, arena));
    json_close_object(w);
}

// --- The whole ---

static const struct field name_fields[] = {
    FIELD("name", struct trend_name, name),
    FIELD("sessions", struct trend_name, sessions),
    FIELD_END,
};

static void write_growth(const struct trend_document *document, struct json_writer *w) {
    struct trend_growth growth;
    if (document->limit.kind == TREND_NO_LIMIT) return;
    bool is_known = trend_growth_of(document, &growth);
    json_open_object_key(w, "growth");
    json_write_text_key(w, "of", document->limit.is_of_total ? "total" : "peak");
    json_write_known_key(w, "delta_bytes", is_known, growth.delta_bytes);
    json_write_known_key(w, "limit_bytes", is_known, growth.limit_bytes);
    json_key(w, "is_over");
    if (is_known)
        json_write_bool(w, growth.is_over);
    else
        json_write_null(w);
    json_close_object(w);
}

static void write_head(const struct trend *trend, struct json_writer *w) {
    char name[MEMORY_SPACE_NAME_BYTES];
    const struct trend_question *question = &trend->question;
    bool is_program = question->tool == TREND_PROGRAM;
    json_write_text_key(w, "tool", trend_tool_names[question->tool]);
    json_write_string_key(w, "subject", trend->subject);
    json_write_known_key(w, "memory_space", is_program, question->space);
    json_write_text_key(w, "memory_space_name", is_program ? memory_space_name(question->space, name) : NULL);
    json_write_text_key(w, "by", is_program ? memory_group_by_name(question->by) : NULL);
    json_write_bool_key(w, "complete", trend->pending_count == 0);
    json_write_int64_key(w, "sessions", trend->count);
    json_write_int64_key(w, "ready", trend->ready_count);
    json_write_int64_key(w, "pending", trend->pending_count);
    json_write_int64_key(w, "left_out", trend->left_out);
}

bool trend_json_write(const struct trend_document *document, struct arena *arena, struct json_writer *w) {
    const struct trend *trend = document->trend;
    write_head(trend, w);
    if (!write_points(trend, arena, w) || !write_lines(document, arena, w)) return false;
    write_jump(document, arena, w);
    write_growth(document, w);
    fields_write_objects_key(w, "names", name_fields, trend->names, trend->name_count, sizeof *trend->names);
    json_write_bool_key(w, "has_more_names", trend->has_more_names);
    fields_write_objects_key(w, "unlisted", remark_fields, trend->unlisted, trend->unlisted_count,
                             sizeof *trend->unlisted);
    return true;
}
