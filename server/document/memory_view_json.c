#include "server/document/memory_view_json.h"

#include "analysis/base/text_writer.h"
#include "analysis/memory/buffer_description.h"
#include "server/document/memory_view_notes.h"
#include "server/text/string_table.h"

// One integer column for each field of the rows.
struct columns {
    int64_t *logical_buffer_id, *allocation, *offset, *size_bytes, *unpadded_bytes;
    uint32_t *start_step, *end_step, *category;
    uint32_t *instruction, *opcode, *shape, *op_name, *source;  // into the string table
};

static bool make_columns(struct columns *c, uint32_t rows, struct arena *arena) {
    int64_t **wide[] = {&c->logical_buffer_id, &c->allocation, &c->offset, &c->size_bytes, &c->unpadded_bytes};
    uint32_t **narrow[] = {&c->start_step, &c->end_step, &c->category, &c->instruction,
                           &c->opcode,     &c->shape,    &c->op_name,  &c->source};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        if (!(*wide[i] = arena_push_raw(arena, rows, sizeof(int64_t)))) return false;
    }
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        if (!(*narrow[i] = arena_push_raw(arena, rows, sizeof(uint32_t)))) return false;
    }
    return true;
}

static struct bytes source_text(const struct buffer_description *buffer, struct arena *arena) {
    if (!buffer->source_file.size) return (struct bytes){0};
    struct text_writer text = {.arena = arena};
    text_put_bytes(&text, buffer->source_file);
    text_put(&text, ":");
    text_put_int64(&text, buffer->source_line);
    const char *written = text_writer_finish(&text);
    return written ? bytes_of(written) : (struct bytes){0};
}

static void fill_words(struct columns *c, uint32_t i, uint32_t buffer, struct buffer_describer *describer,
                       struct string_table *strings) {
    struct buffer_description words = buffer_describe(describer, buffer);
    c->instruction[i] = string_table_put(strings, words.name);
    c->opcode[i] = string_table_put(strings, words.opcode);
    c->shape[i] = string_table_put(strings, words.shape);
    c->op_name[i] = string_table_put(strings, words.op_name);
    c->source[i] = string_table_put(strings, source_text(&words, describer->arena));
}

static void fill_columns(struct columns *c, const struct memory_view *view, struct buffer_describer *describer,
                         struct string_table *strings) {
    const struct hlo_module *module = view->module;
    for (uint32_t i = 0; i < view->row_count; i++) {
        const struct memory_buffer *row = &view->rows[i];
        c->logical_buffer_id[i] = row->buffer == HLO_NONE ? -1 : module->buffers[row->buffer].id;
        c->allocation[i] = row->allocation == HLO_NONE ? -1 : module->allocations[row->allocation].index;
        c->offset[i] = row->offset;
        c->size_bytes[i] = row->size_bytes;
        c->unpadded_bytes[i] = row->unpadded_bytes;
        c->start_step[i] = row->start_step;
        c->end_step[i] = row->end_step;
        c->category[i] = (uint32_t)row->category;
        fill_words(c, i, row->buffer, describer, strings);
    }
}

static void write_columns(const struct columns *c, uint32_t rows, struct json_writer *w) {
    json_key(w, "buffers");
    json_open_object(w);
    json_write_int64_column(w, "logical_buffer_id", c->logical_buffer_id, rows);
    json_write_int64_column(w, "allocation", c->allocation, rows);
    json_write_int64_column(w, "offset", c->offset, rows);
    json_write_int64_column(w, "size_bytes", c->size_bytes, rows);
    json_write_int64_column(w, "unpadded_bytes", c->unpadded_bytes, rows);
    json_write_uint32_column(w, "start_step", c->start_step, rows);
    json_write_uint32_column(w, "end_step", c->end_step, rows);
    json_write_uint32_column(w, "category", c->category, rows);
    json_write_uint32_column(w, "instruction", c->instruction, rows);
    json_write_uint32_column(w, "opcode", c->opcode, rows);
    json_write_uint32_column(w, "shape", c->shape, rows);
    json_write_uint32_column(w, "op_name", c->op_name, rows);
    json_write_uint32_column(w, "source", c->source, rows);
    json_close_object(w);
}

static void write_curve(const char *key, const int64_t *bytes, uint32_t count, int64_t always_bytes,
                        struct json_writer *w) {
    json_key(w, key);
    json_open_array(w);
    for (uint32_t i = 0; i < count; i++) json_write_int64(w, bytes[i] + always_bytes);
    json_close_array(w);
}

static void write_program(const struct memory_view *view, struct string_table *strings, struct json_writer *w) {
    const struct heap_replay *replay = &view->replay;
    uint32_t count = view->has_simulation ? replay->step_count + 1 : 0;
    json_key(w, "program");
    json_open_object(w);
    json_write_int64_key(w, "steps", replay->step_count);
    write_curve("heap_bytes", replay->heap_bytes, count, view->indefinite_bytes, w);
    write_curve("unpadded_bytes", replay->unpadded_bytes, count, view->indefinite_unpadded_bytes, w);
    json_key(w, "instruction");
    json_open_array(w);
    for (uint32_t i = 0; i < count; i++) json_write_int64(w, string_table_put(strings, replay->instruction_names[i]));
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

bool memory_view_json_write(const struct memory_view_document *document, struct arena *scratch, struct json_writer *w,
                            struct error *error) {
    const struct memory_view *view = document->view;
    struct buffer_describer describer;
    struct string_table strings;
    struct columns columns;
    if (!buffer_describer_init(&describer, view->module, view->scope, scratch) ||
        !string_table_init(&strings, scratch) || !make_columns(&columns, view->row_count, scratch)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
    }
    fill_columns(&columns, view, &describer, &strings);
    json_open_object(w);
    write_identity(document, w);
    memory_spaces_write(&document->summaries, w);
    write_totals(document, w);
    compiler_report_write(&document->dump, &view->totals, w);
    write_xprof(document->xprof, w);
    write_notes(document, scratch, w);
    write_program(view, &strings, w);
    write_columns(&columns, view->row_count, w);
    json_write_uint32_column(w, "at_peak", view->at_peak, view->at_peak_count);
    write_allocations(view, w);
    string_table_write(&strings, w);
    json_close_object(w);
    return !string_table_has_failed(&strings) || error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
}
