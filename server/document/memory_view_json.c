#include "server/document/memory_view_json.h"

#include "server/document/memory_rows.h"
#include "server/document/memory_view_notes.h"

// The curve of live bytes with what is always live, in `room`.
static void write_curve(const char *key, const int64_t *bytes, uint32_t count, int64_t always_bytes, int64_t *room,
                        json_int64_column *write, struct json_writer *w) {
    for (uint32_t i = 0; i < count; i++) room[i] = bytes[i] + always_bytes;
    write(w, key, room, count);
}

static bool write_program(const struct memory_view_document *d, struct string_table *strings, struct json_writer *w) {
    const struct memory_view *view = d->view;
    const struct heap_replay *replay = &view->replay;
    uint32_t count = view->has_simulation ? replay->step_count + 1 : 0;
    int64_t *room = arena_push_raw(strings->arena, count, sizeof *room);
    uint32_t *instructions = arena_push_raw(strings->arena, count, sizeof *instructions);
    if (!room || !instructions) return false;
    for (uint32_t i = 0; i < count; i++) instructions[i] = string_table_put(strings, replay->instruction_names[i]);
    json_int64_column *wide = d->as_differences ? json_write_int64_differences : json_write_int64_column;
    json_key(w, "program");
    json_open_object(w);
    json_write_int64_key(w, "steps", replay->step_count);
    write_curve("heap_bytes", replay->heap_bytes, count, view->indefinite_bytes, room, wide, w);
    write_curve("unpadded_bytes", replay->unpadded_bytes, count, view->indefinite_unpadded_bytes, room, wide, w);
    (d->as_differences ? json_write_uint32_differences : json_write_uint32_column)(w, "instruction", instructions,
                                                                                   count);
    json_close_object(w);
    return true;
}

// "delta": which columns are told as differences.
static void write_delta(struct json_writer *w) {
    static const char *const of_program[] = {"heap_bytes", "unpadded_bytes", "instruction"};
    json_key(w, "delta");
    json_open_object(w);
    json_key(w, "program");
    json_open_array(w);
    for (size_t i = 0; i < sizeof of_program / sizeof *of_program; i++) json_write_text(w, of_program[i]);
    json_close_array(w);
    json_key(w, "buffers");
    json_open_array(w);
    memory_rows_delta_write(w);
    json_close_array(w);
    json_close_object(w);
}

static void write_allocations(const struct memory_view *view, struct json_writer *w) {
    const struct hlo_module *module = view->module;
    static const char *const keys[] = {"index", "size_bytes", "category", "buffer_count"};
    json_key(w, "allocations");
    json_open_object(w);
    for (size_t column = 0; column < sizeof keys / sizeof *keys; column++) {
        json_key(w, keys[column]);
        json_open_array(w);
        for (uint32_t i = 0; i < module->allocation_count; i++) {
            const struct hlo_allocation *a = &module->allocations[i];
            const int64_t values[] = {a->index, a->size_bytes, allocation_category_of(a), a->assigned_count};
            if (a->color == view->totals.space) json_write_int64(w, values[column]);
        }
        json_close_array(w);
    }
    json_close_object(w);
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

void memory_spaces_write(const struct memory_summary_list *list, struct json_writer *w) {
    json_key(w, "memory_spaces");
    json_open_array(w);
    for (size_t i = 0; i < list->count; i++) {
        char name[MEMORY_SPACE_NAME_BYTES];
        json_open_object(w);
        json_write_int64_key(w, "space", list->summaries[i].space);
        json_write_text_key(w, "name", memory_space_name(list->summaries[i].space, name));
        json_write_int64_key(w, "peak_bytes", list->summaries[i].peak_bytes);
        json_write_int64_key(w, "total_allocation_bytes", list->summaries[i].total_bytes);
        json_write_int64_key(w, "thread_local_bytes", list->summaries[i].thread_local_bytes);
        json_close_object(w);
    }
    json_close_array(w);
}

void memory_view_totals_write(const struct memory_view *view, struct json_writer *w) {
    const struct memory_totals *totals = &view->totals;
    json_write_int64_key(w, "peak_bytes", view->peak_bytes);
    json_write_int64_key(w, "peak_position", view->replay.peak_position);
    json_write_int64_key(w, "total_allocation_bytes", totals->total_bytes);
    json_write_int64_key(w, "indefinite_bytes", totals->indefinite_bytes);
    json_write_int64_key(w, "parameter_bytes", totals->bytes[ALLOCATION_PARAMETER]);
    json_write_int64_key(w, "output_bytes", totals->bytes[ALLOCATION_OUTPUT]);
    json_write_int64_key(w, "aliased_bytes", totals->bytes[ALLOCATION_DONATED]);
    json_write_int64_key(w, "constant_bytes", totals->bytes[ALLOCATION_CONSTANT]);
    json_write_int64_key(w, "thread_local_bytes", totals->bytes[ALLOCATION_THREAD_LOCAL]);
    json_write_int64_key(w, "temporary_bytes", totals->bytes[ALLOCATION_TEMPORARY]);
    json_write_int64_key(w, "fragmentation_bytes", view->fragmentation_bytes);
    json_write_int64_key(w, "padding_bytes", view->padding_bytes);
}

void compiler_report_write(const struct dump_facts *dump, const struct memory_totals *totals, struct json_writer *w) {
    json_key(w, "compiler_report");
    if (!dump->has_report) {
        json_write_null(w);
        return;
    }
    struct usage_comparison comparison = usage_report_compare(&dump->report, totals);
    json_open_object(w);
    json_write_int64_key(w, "total_bytes", comparison.reported_bytes);
    json_key(w, "agrees");
    json_write_bool(w, comparison.agrees);
    json_write_int64_key(w, "difference_bytes", comparison.difference_bytes);
    json_close_object(w);
}

static void write_totals(const struct memory_view_document *d, struct json_writer *w) {
    const struct heap_replay *replay = &d->view->replay;
    json_key(w, "totals");
    json_open_object(w);
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
    json_key(w, "xprof");
    if (!xprof) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_int64_key(w, "peak_bytes", xprof->peak_bytes);
    json_write_int64_key(w, "peak_unpadded_bytes", xprof->indefinite_bytes + xprof->replay.peak_unpadded_bytes);
    json_write_int64_key(w, "entry_parameter_bytes",
                         xprof->totals.bytes[ALLOCATION_PARAMETER] + xprof->totals.bytes[ALLOCATION_DONATED]);
    json_write_int64_key(w, "total_allocation_bytes", xprof->totals.total_bytes);
    json_write_int64_key(w, "indefinite_bytes", xprof->totals.indefinite_bytes);
    json_close_object(w);
}

static void write_notes(const struct memory_view_document *d, struct arena *arena, struct json_writer *w) {
    struct memory_view_notes notes;
    memory_view_notes_make(d, arena, &notes);
    json_key(w, "notes");
    json_open_array(w);
    for (size_t i = 0; i < notes.count; i++) json_write_text(w, notes.texts[i]);
    json_close_array(w);
}

void memory_view_head_write(const struct memory_view_document *document, struct arena *scratch, struct json_writer *w) {
    write_identity(document, w);
    memory_spaces_write(&document->summaries, w);
    write_totals(document, w);
    compiler_report_write(&document->dump, &document->view->totals, w);
    write_xprof(document->xprof, w);
    write_notes(document, scratch, w);
}

static void write_rows(const struct memory_view_document *d, const struct memory_rows *rows, struct json_writer *w) {
    json_key(w, "buffers");
    json_open_object(w);
    memory_rows_write(rows, d->as_differences, w);
    json_close_object(w);
}

bool memory_view_json_write(const struct memory_view_document *document, struct arena *scratch, struct json_writer *w,
                            struct error *error) {
    const struct memory_view *view = document->view;
    struct buffer_describer describer;
    struct string_table strings;
    struct memory_rows rows;
    if (!buffer_describer_init(&describer, view->module, view->scope, scratch) ||
        !string_table_init(&strings, scratch) || !memory_rows_init(&rows, view->row_count, scratch))
        return error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
    for (uint32_t i = 0; i < view->row_count; i++) memory_rows_add(&rows, view, i, SIZE_MAX, &describer, &strings);
    json_open_object(w);
    memory_view_head_write(document, scratch, w);
    if (document->as_differences) write_delta(w);
    bool is_written = write_program(document, &strings, w);
    write_rows(document, &rows, w);
    json_write_uint32_column(w, "at_peak", view->at_peak, view->at_peak_count);
    write_allocations(view, w);
    string_table_write(&strings, w);
    json_close_object(w);
    return (is_written && !string_table_has_failed(&strings)) ||
           error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
}
