#include "server/document/memory_overview_json.h"

#include "analysis/memory/curve_samples.h"
#include "analysis/memory/peak_summary.h"
#include "server/document/memory_rows.h"

struct overview {
    const struct memory_view *view;
    struct curve_samples curve;
    struct peak_summary peak;
    struct memory_row *rows;  // the first of peak.largest
    uint32_t row_count;
    struct peak_sum shown;
    struct string_table strings;
};

static size_t text_bytes(const struct string_table *strings) {
    size_t sum = 0;
    for (uint32_t i = 0; i < strings->count; i++) sum += strings->texts[i].size;
    return sum;
}

static void add_rows(struct overview *o, struct buffer_describer *describer) {
    while (o->row_count < o->peak.largest_count && text_bytes(&o->strings) < OVERVIEW_TEXT_BYTES) {
        const struct memory_buffer *buffer = &o->view->rows[o->peak.largest[o->row_count]];
        o->rows[o->row_count++] = memory_row_of(buffer, OVERVIEW_LONGEST_TEXT, describer, &o->strings);
        peak_sum_add(&o->shown, buffer);
    }
}

static bool gather(const struct memory_view *view, uint32_t columns, struct arena *scratch, struct overview *o) {
    struct buffer_describer describer;
    *o = (struct overview){.view = view};
    if (!buffer_describer_init(&describer, view->module, view->scope, scratch) ||
        !string_table_init(&o->strings, scratch) || !curve_samples_make(view, columns, scratch, &o->curve) ||
        !peak_summary_make(view, OVERVIEW_ROWS_MAX, scratch, &o->peak))
        return false;
    o->rows = arena_push_raw(scratch, o->peak.largest_count, sizeof *o->rows);
    if (!o->rows) return false;
    add_rows(o, &describer);
    return !string_table_has_failed(&o->strings);
}

static void write_curve(const struct overview *o, struct json_writer *w) {
    const struct curve_samples *curve = &o->curve;
    json_open_object_key(w, "program");
    json_write_int64_key(w, "steps", o->view->replay.step_count);
    json_write_uint32_column(w, "step", curve->steps, curve->count);
    json_write_int64_column(w, "heap_bytes", curve->heap_bytes, curve->count);
    json_write_int64_column(w, "unpadded_bytes", curve->unpadded_bytes, curve->count);
    json_close_object(w);
}

static void write_largest(const struct overview *o, struct json_writer *w) {
    json_open_object_key(w, "largest_at_peak");
    json_write_uint32_column(w, "row", o->peak.largest, o->row_count);
    fields_write_number_columns(w, memory_row_fields, o->rows, o->row_count, sizeof *o->rows, false);
    json_close_object(w);
}

static const struct field sum_fields[] = {
    FIELD("buffers", struct peak_sum, buffers),
    FIELD("size_bytes", struct peak_sum, size_bytes),
    FIELD("padding_bytes", struct peak_sum, padding_bytes),
    FIELD_END,
};

static struct peak_sum left_out(const struct overview *o) {
    const struct peak_sum *total = &o->peak.total, *shown = &o->shown;
    return (struct peak_sum){.size_bytes = total->size_bytes - shown->size_bytes,
                             .padding_bytes = total->padding_bytes - shown->padding_bytes,
                             .buffers = total->buffers - shown->buffers};
}

// What each category holds at the peak, and what is allocated for it.
static void write_categories(const struct overview *o, struct json_writer *w) {
    const struct memory_totals *totals = &o->view->totals;
    json_open_array_key(w, "categories");
    for (int category = 0; category < ALLOCATION_CATEGORY_COUNT; category++) {
        const struct peak_sum *sum = &o->peak.categories[category];
        json_open_object(w);
        json_write_text_key(w, "name", allocation_category_name((enum allocation_category)category));
        json_write_int64_key(w, "allocated_bytes", totals->bytes[category]);
        json_write_int64_key(w, "buffers_at_peak", sum->buffers);
        json_write_int64_key(w, "bytes_at_peak", sum->size_bytes);
        json_write_int64_key(w, "padding_at_peak", sum->padding_bytes);
        json_close_object(w);
    }
    json_close_array(w);
}

bool memory_overview_json_write(const struct memory_view_document *document, uint32_t columns, struct arena *scratch,
                                struct json_writer *w, struct error *error) {
    struct overview o;
    if (!gather(document->view, columns, scratch, &o))
        return error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
    struct peak_sum rest = left_out(&o);
    json_open_object(w);
    memory_view_head_write(document, scratch, w);
    write_curve(&o, w);
    write_categories(&o, w);
    json_write_int64_key(w, "rows", document->view->row_count);
    fields_write_object_key(w, "at_peak", sum_fields, &o.peak.total);
    write_largest(&o, w);
    fields_write_object_key(w, "left_out", sum_fields, &rest);
    string_table_write(&o.strings, w);
    json_close_object(w);
    return true;
}
