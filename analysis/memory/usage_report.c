#include "analysis/memory/usage_report.h"

#include "analysis/base/growing_array.h"
#include "analysis/base/text_scan.h"
#include "proto/wire.h"

enum { REPORT_SPACES = 1, SPACE_TOTAL_BYTES = 1, SPACE_NUMBER = 2 };

static bool add_space(struct usage_report *report, struct usage_report_space space, struct arena *arena,
                      struct error *error) {
    return growing_array_add(arena, report->spaces, report->space_count, space) ||
           error_set(error, ERROR_TOO_BIG, "no memory left for the memory-usage report");
}

// --- Proto ---

static bool damaged(struct bytes message, const struct wire *w, struct error *error) {
    return error_at(error, ERROR_MALFORMED, (int64_t)(w->at - message.data),
                    "the memory-usage report is damaged here: %s", w->fault);
}

bool usage_report_of_proto(struct bytes message, struct arena *arena, struct usage_report *report,
                           struct error *error) {
    struct wire w = wire_open(message);
    struct wire_field f, inner;
    *report = (struct usage_report){0};
    while (wire_next(&w, &f)) {
        if (f.number != REPORT_SPACES || f.type != WIRE_LEN) continue;
        struct usage_report_space space = {0};
        struct wire entry = wire_open(f.payload);
        while (wire_next(&entry, &inner)) {
            if (inner.type != WIRE_VARINT) continue;
            if (inner.number == SPACE_TOTAL_BYTES) space.total_bytes = wire_int64(&inner);
            if (inner.number == SPACE_NUMBER) space.space = wire_int64(&inner);
        }
        if (entry.fault) return damaged(message, &entry, error);
        if (!add_space(report, space, arena, error)) return false;
    }
    return !w.fault || damaged(message, &w, error);
}

// --- Text ---

static bool take_number(struct bytes text, int64_t *value) {
    return text_take_int64(&text, value) && *value >= 0;
}

// "vmem (color=1)": the number after the last "(color=".
static bool read_color(struct bytes line, int64_t *color) {
    const struct bytes mark = BYTES("(color=");
    for (size_t at = line.size; at-- > 0;) {
        struct bytes tail = {line.data + at, line.size - at};
        if (text_take(&tail, mark)) return take_number(tail, color);
    }
    return false;
}

bool usage_report_of_text(struct bytes text, struct arena *arena, struct usage_report *report, struct error *error) {
    struct usage_report_space space = {0};
    struct bytes rest = text;
    bool has_space = false;
    *report = (struct usage_report){0};
    for (size_t number = 1; rest.size; number++) {
        int64_t offset = (int64_t)(rest.data - text.data);
        struct bytes line = text_take_until(&rest, '\n');
        text_skip(&rest, 1);
        bool is_space = text_take(&line, BYTES("Memory Space: ")), is_total = text_take(&line, BYTES("Total bytes: "));
        if (!is_space && !is_total) continue;
        bool is_good = is_space ? read_color(line, &space.space) : has_space && take_number(line, &space.total_bytes);
        if (!is_good)
            return error_at(error, ERROR_MALFORMED, offset,
                            "line %zu: expected \"Memory Space: NAME (color=N)\", then \"Total bytes: N\"", number);
        if (is_total && !add_space(report, space, arena, error)) return false;
        has_space = is_space;
    }
    if (report->space_count && !has_space) return true;
    return error_at(error, ERROR_TRUNCATED, (int64_t)text.size, "the memory-usage report ends before a total");
}

// --- Comparing ---

struct usage_comparison usage_report_compare(const struct usage_report *report, const struct memory_totals *totals) {
    struct usage_comparison comparison = {0};
    int64_t ours = totals->total_bytes;
    for (size_t i = 0; i < report->space_count; i++) {
        if (report->spaces[i].space == totals->space) comparison.reported_bytes = report->spaces[i].total_bytes;
    }
    bool has_overflow = __builtin_add_overflow(ours, totals->bytes[ALLOCATION_THREAD_LOCAL], &ours) ||
                        __builtin_sub_overflow(ours, comparison.reported_bytes, &comparison.difference_bytes);
    if (has_overflow) comparison.difference_bytes = INT64_MAX;
    comparison.agrees = comparison.difference_bytes == 0;
    return comparison;
}
