#include "analysis/memory/memory_totals.h"
#include "server/document/trend_document.h"
#include "server/text/csv_row.h"
#include "server/text/fields.h"

struct point_cells {
    const char *session, *file, *state, *host;
    struct bytes name;
    int64_t time_s;
    uint32_t of;
};

static const struct field point_fields[] = {
    FIELD("session", struct point_cells, session), FIELD("file", struct point_cells, file),
    FIELD("time_s", struct point_cells, time_s),   FIELD("state", struct point_cells, state),
    FIELD("host", struct point_cells, host),       FIELD("name", struct point_cells, name),
    FIELD("of", struct point_cells, of),           FIELD_END,
};

struct figure_cells {
    int64_t peak_bytes, peak_delta_bytes, total_bytes;
    const char *reason;
    bool is_ready, has_before;
};

static const struct field figure_fields[] = {
    FIELD_IF("peak_bytes", struct figure_cells, peak_bytes, is_ready),
    FIELD_IF("peak_delta_bytes", struct figure_cells, peak_delta_bytes, has_before),
    FIELD_AS("total_allocation_bytes", struct figure_cells, total_bytes, FIELD_KNOWN),
    FIELD("reason", struct figure_cells, reason),
    FIELD_END,
};

static const struct field holder_fields[] = {
    FIELD("key", struct trend_holder, key),
    FIELD("size_bytes", struct trend_holder, bytes),
    FIELD("buffers", struct trend_holder, buffers),
    FIELD_END,
};

static struct csv_row begin_row(const struct trend_point *point, struct output *output) {
    struct csv_row csv = {.output = output};
    const struct point_cells cells = {point->session, point->file, trend_state_names[point->state],
                                      point->host,    point->name, point->time_s,
                                      point->of};
    fields_write_csv(&csv, point_fields, &cells);
    return csv;
}

static void write_point(const struct trend *trend, uint32_t at, struct output *output) {
    const struct trend_figures *figures = trend->figures[at];
    const struct trend_point *point = &trend->points[at];
    struct csv_row csv = begin_row(point, output);
    struct figure_cells cells = {.total_bytes = TREND_UNKNOWN,
                                 .reason = point->reason ? point->reason->message : NULL,
                                 .is_ready = figures != NULL};
    uint32_t before = figures ? trend_point_before(trend->figures, at) : TREND_NOWHERE;
    cells.has_before = before != TREND_NOWHERE;
    if (figures) {
        cells.peak_bytes = figures->peak_bytes;
        cells.total_bytes = figures->total_bytes;
    }
    if (cells.has_before) cells.peak_delta_bytes = figures->peak_bytes - trend->figures[before]->peak_bytes;
    fields_write_csv(&csv, figure_fields, &cells);
    csv_end_row(&csv);
}

static void write_holder(const struct trend_point *point, const struct trend_holder *holder, struct output *output) {
    struct csv_row csv = begin_row(point, output);
    fields_write_csv(&csv, holder_fields, holder);
    csv_end_row(&csv);
}

static void write_holders(const struct trend_point *point, uint32_t most, struct output *output) {
    const struct trend_figures *figures = point->figures;
    if (!figures) return;
    struct trend_holder rest = {BYTES("(left out)"), figures->peak_bytes, 0};
    for (uint32_t i = 0; i < figures->holder_count && i < most; i++) {
        write_holder(point, &figures->holders[i], output);
        rest.bytes -= figures->holders[i].bytes;
    }
    if (rest.bytes) write_holder(point, &rest, output);
}

void trend_csv_write(const struct trend_document *document, bool has_holders, struct output *output) {
    const struct trend *trend = document->trend;
    struct csv_row csv = {.output = output};
    fields_write_csv_names(&csv, point_fields);
    fields_write_csv_names(&csv, has_holders ? holder_fields : figure_fields);
    csv_end_row(&csv);
    for (uint32_t i = 0; i < trend->count; i++) {
        if (has_holders)
            write_holders(&trend->points[i], document->line_count, output);
        else
            write_point(trend, i, output);
    }
}
