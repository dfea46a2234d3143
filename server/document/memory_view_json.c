#include "server/document/memory_view_document.h"

#include "server/document/memory_rows.h"

struct program_step {
    int64_t heap_bytes, unpadded_bytes;
    uint32_t instruction;
};

static const struct field program_fields[] = {
    FIELD_GROWING("heap_bytes", struct program_step, heap_bytes),
    FIELD_GROWING("unpadded_bytes", struct program_step, unpadded_bytes),
    FIELD_GROWING("instruction", struct program_step, instruction),
    FIELD_END,
};

static bool write_program(const struct memory_view_document *d, struct string_table *strings, struct json_writer *w) {
    const struct memory_view *view = d->view;
    const struct heap_replay *replay = &view->replay;
    uint32_t count = view->has_simulation ? replay->step_count + 1 : 0;
    struct program_step *steps = arena_push_raw(strings->arena, count, sizeof *steps);
    if (!steps) return false;
    for (uint32_t i = 0; i < count; i++) {
        steps[i] = (struct program_step){replay->heap_bytes[i] + view->indefinite_bytes,
                                         replay->unpadded_bytes[i] + view->indefinite_unpadded_bytes,
                                         string_table_put(strings, replay->instruction_names[i])};
    }
    json_open_object_key(w, "program");
    json_write_int64_key(w, "steps", replay->step_count);
    fields_write_number_columns(w, program_fields, steps, count, sizeof *steps, d->as_differences);
    json_close_object(w);
    return true;
}

// "delta": which columns are told as differences.
static void write_delta(struct json_writer *w) {
    json_open_object_key(w, "delta");
    fields_write_growing_key(w, "program", program_fields);
    fields_write_growing_key(w, "buffers", memory_row_fields);
    json_close_object(w);
}

struct allocation_row {
    int64_t index, size_bytes;
    uint32_t category, buffer_count;
};

static const struct field allocation_fields[] = {
    FIELD("index", struct allocation_row, index),
    FIELD("size_bytes", struct allocation_row, size_bytes),
    FIELD("category", struct allocation_row, category),
    FIELD("buffer_count", struct allocation_row, buffer_count),
    FIELD_END,
};

static bool write_allocations(const struct memory_view *view, struct arena *scratch, struct json_writer *w) {
    const struct hlo_module *module = view->module;
    struct allocation_row *rows = arena_push_raw(scratch, module->allocation_count, sizeof *rows);
    size_t count = 0;
    if (!rows) return false;
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *a = &module->allocations[i];
        if (a->color != view->totals.space) continue;
        rows[count++] = (struct allocation_row){a->index, a->size_bytes, allocation_category_of(a), a->assigned_count};
    }
    json_open_object_key(w, "allocations");
    fields_write_columns(w, allocation_fields, rows, count, sizeof *rows, NULL);
    json_close_object(w);
    return true;
}

static void write_identity(const struct memory_view_document *d, struct json_writer *w) {
    char name[MEMORY_SPACE_NAME_BYTES];
    json_write_text_key(w, "session", d->session);
    json_write_text_key(w, "host", d->host);
    json_write_text_key(w, "module", d->module);
    json_write_string_key(w, "module_name", d->view->module->name);
    json_write_string_key(w, "entry_computation", d->view->module->entry_computation_name);
    json_write_int64_key(w, "memory_space", d->view->totals.space);
    json_write_text_key(w, "memory_space_name", memory_space_name(d->view->totals.space, name));
}

static const struct field space_fields[] = {
    FIELD("peak_bytes", struct memory_summary, peak_bytes),
    FIELD("total_allocation_bytes", struct memory_summary, total_bytes),
    FIELD_END,
};

void memory_spaces_write(const struct memory_summary *spaces, size_t count, bool has_thread_local,
                         struct json_writer *w) {
    json_open_array_key(w, "memory_spaces");
    for (size_t i = 0; i < count; i++) {
        char name[MEMORY_SPACE_NAME_BYTES];
        json_open_object(w);
        json_write_int64_key(w, "space", spaces[i].space);
        json_write_text_key(w, "name", memory_space_name(spaces[i].space, name));
        fields_write(w, space_fields, &spaces[i]);
        if (has_thread_local) json_write_int64_key(w, "thread_local_bytes", spaces[i].thread_local_bytes);
        json_close_object(w);
    }
    json_close_array(w);
}

#define TOTAL(name, member) FIELD(name, struct memory_view, member)

static const struct field total_fields[] = {
    TOTAL("peak_bytes", peak_bytes),
    TOTAL("peak_position", replay.peak_position),
    TOTAL("total_allocation_bytes", totals.total_bytes),
    TOTAL("indefinite_bytes", totals.indefinite_bytes),
    TOTAL("parameter_bytes", totals.bytes[ALLOCATION_PARAMETER]),
    TOTAL("output_bytes", totals.bytes[ALLOCATION_OUTPUT]),
    TOTAL("aliased_bytes", totals.bytes[ALLOCATION_DONATED]),
    TOTAL("constant_bytes", totals.bytes[ALLOCATION_CONSTANT]),
    TOTAL("thread_local_bytes", totals.bytes[ALLOCATION_THREAD_LOCAL]),
    TOTAL("temporary_bytes", totals.bytes[ALLOCATION_TEMPORARY]),
    TOTAL("fragmentation_bytes", fragmentation_bytes),
    TOTAL("padding_bytes", padding_bytes),
    FIELD_END,
};

void memory_view_totals_write(const struct memory_view *view, struct json_writer *w) {
    fields_write(w, total_fields, view);
}

static const struct field comparison_fields[] = {
    FIELD("total_bytes", struct usage_comparison, reported_bytes),
    FIELD("agrees", struct usage_comparison, agrees),
    FIELD("difference_bytes", struct usage_comparison, difference_bytes),
    FIELD_END,
};

void compiler_report_write(const struct dump_facts *dump, const struct memory_totals *totals, struct json_writer *w) {
    struct usage_comparison comparison = {0};
    if (dump->has_report) comparison = usage_report_compare(&dump->report, totals);
    fields_write_object_key(w, "compiler_report", comparison_fields, dump->has_report ? &comparison : NULL);
}

static void write_totals(const struct memory_view_document *d, struct json_writer *w) {
    const struct heap_replay *replay = &d->view->replay;
    json_open_object_key(w, "totals");
    memory_view_totals_write(d->view, w);
    json_write_int64_key(w, "peak_unpadded_bytes", d->view->peak_unpadded_bytes);
    json_write_string_key(w, "peak_instruction",
                          d->view->has_simulation ? replay->instruction_names[replay->peak_position] : BYTES(""));
    json_write_int64_key(w, "scoped_vmem_bytes", d->scoped_vmem.bytes);
    json_write_string_key(w, "scoped_vmem_instruction", d->scoped_vmem.instruction);
    json_close_object(w);
}

// What XProf's header is made of; its unpadded peak takes indefinite buffers in their padded size.
static void write_xprof(const struct memory_view *xprof, struct json_writer *w) {
    if (!xprof) {
        json_write_text_key(w, "xprof", NULL);
        return;
    }
    json_open_object_key(w, "xprof");
    json_write_int64_key(w, "peak_bytes", xprof->peak_bytes);
    json_write_int64_key(w, "peak_unpadded_bytes", xprof->indefinite_bytes + xprof->replay.peak_unpadded_bytes);
    json_write_int64_key(w, "entry_parameter_bytes",
                         xprof->totals.bytes[ALLOCATION_PARAMETER] + xprof->totals.bytes[ALLOCATION_DONATED]);
    json_write_int64_key(w, "total_allocation_bytes", xprof->totals.total_bytes);
    json_write_int64_key(w, "indefinite_bytes", xprof->totals.indefinite_bytes);
    json_close_object(w);
}

void memory_view_head_write(const struct memory_view_document *document, struct arena *scratch, struct json_writer *w) {
    struct memory_view_notes notes;
    memory_view_notes_make(document, scratch, &notes);
    write_identity(document, w);
    memory_spaces_write(document->summaries.summaries, document->summaries.count, true, w);
    write_totals(document, w);
    compiler_report_write(&document->dump, &document->view->totals, w);
    write_xprof(document->xprof, w);
    json_write_texts_key(w, "notes", notes.texts, notes.count);
}

bool memory_view_json_write(const struct memory_view_document *document, struct arena *scratch, struct json_writer *w,
                            struct error *error) {
    const struct memory_view *view = document->view;
    struct buffer_describer describer;
    struct string_table strings;
    struct memory_row *rows = arena_push_raw(scratch, view->row_count, sizeof *rows);
    if (!rows || !string_table_init(&strings, scratch) ||
        !buffer_describer_init(&describer, view->module, view->scope, scratch))
        return error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
    for (uint32_t i = 0; i < view->row_count; i++)
        rows[i] = memory_row_of(&view->rows[i], SIZE_MAX, &describer, &strings);
    json_open_object(w);
    memory_view_head_write(document, scratch, w);
    if (document->as_differences) write_delta(w);
    bool is_written = write_program(document, &strings, w);
    json_open_object_key(w, "buffers");
    fields_write_number_columns(w, memory_row_fields, rows, view->row_count, sizeof *rows, document->as_differences);
    json_close_object(w);
    json_write_uint32_column(w, "at_peak", view->at_peak, view->at_peak_count);
    is_written &= write_allocations(view, scratch, w);
    string_table_write(&strings, w);
    json_close_object(w);
    return (is_written && !string_table_has_failed(&strings)) ||
           error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
}
