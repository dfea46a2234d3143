#include "server/command/report_formats.h"

#include "server/document/groups_json.h"
#include "server/text/error_json.h"
#include "server/document/memory_view_document.h"
#include "server/document/program_fields.h"

static const struct field buffer_fields[] = {
    FIELD("logical_buffer_id", struct report_buffer, logical_buffer_id),
    FIELD("name", struct report_buffer, words.name),
    FIELD("opcode", struct report_buffer, words.opcode),
    FIELD("size_bytes", struct report_buffer, row.size_bytes),
    FIELD("unpadded_bytes", struct report_buffer, row.unpadded_bytes),
    FIELD("shape", struct report_buffer, words.shape),
    FIELD("category", struct report_buffer, category),
    FIELD("op_name", struct report_buffer, words.op_name),
    FIELD("source", struct report_buffer, source),
    FIELD("start_step", struct report_buffer, row.start_step),
    FIELD("end_step", struct report_buffer, row.end_step),
    FIELD_END,
};

static void write_buffers(struct report *report, struct report_space *space, struct json_writer *w) {
    json_open_array_key(w, "buffers_at_peak");
    for (size_t i = 0; i < space->peak.largest_count && report_sink_is_open(&report->sink); i++) {
        struct report_buffer buffer = report_buffer_read(space, i);
        fields_write_object(w, buffer_fields, &buffer);
        report_sink_drain(&report->sink);
    }
    json_close_array(w);
}

static void write_groups(struct report *report, struct report_module *module, const struct memory_view *view,
                         struct json_writer *w) {
    struct report_groups made;
    json_key(w, "groups");
    if (report_groups_make(report, module, view, &made))
        groups_json_write(&made.grouping, &made.groups, made.shown_count, w);
    else
        json_write_null(w);
}

static void write_space(struct report *report, struct report_module *module, int64_t number, struct json_writer *w) {
    char name[MEMORY_SPACE_NAME_BYTES];
    struct report_space space;
    if (!report_space_build(report, module, number, &space)) return;
    json_open_object(w);
    json_write_int64_key(w, "space", number);
    json_write_text_key(w, "name", memory_space_name(number, name));
    memory_view_totals_write(space.view, w);
    write_buffers(report, &space, w);
    json_write_int64_key(w, "buffers_at_peak_left_out", (int64_t)space.peak.total.buffers - space.peak.largest_count);
    json_write_texts_key(w, "notes", space.notes.texts, space.notes.count);
    if (report->options.has_groups) write_groups(report, module, space.view, w);
    if (module->dump.report_path) compiler_report_write(&module->dump, &space.view->totals, w);
    json_close_object(w);
}

static void write_spaces(struct report *report, const struct report_program *program, struct json_writer *w) {
    struct report_module module;
    struct memory_totals_list spaces = {0};
    if (report_module_load(report, program, &module)) report_module_spaces(report, &module, &spaces);
    for (size_t i = 0; i < spaces.space_count; i++) write_space(report, &module, spaces.spaces[i].space, w);
    report_module_free(&module);
}

static void write_module(struct report *report, const struct report_program *program, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "session", program->session->name);
    json_write_text_key(w, "host", program->hosts[0]);
    if (program->host_count > 1) json_write_texts_key(w, "hosts", program->hosts, program->host_count);
    json_write_string_key(w, "module", program->program->name);
    if (program->is_of_pod) json_write_int64_key(w, "family", program->family);
    fields_write(w, program_id_field, program->program);
    json_open_array_key(w, "memory_spaces");
    write_spaces(report, program, w);
    json_close_array(w);
    json_close_object(w);
}

static void write_modules(struct report *report, const struct report_inventory *inventory, struct json_writer *w) {
    json_open_array_key(w, "modules");
    for (size_t i = 0; i < inventory->program_count && report_sink_is_open(&report->sink); i++) {
        progress_step(report->options.progress, "program", i + 1, inventory->program_count);
        write_module(report, &inventory->programs[i], w);
        report_sink_drain(&report->sink);
    }
    json_close_array(w);
}

void report_json_write(struct report *report, const struct report_inventory *inventory,
                       const struct report_device_memory *device_memory) {
    struct json_writer w = json_writer_on(&report->sink.output);
    json_open_object(&w);
    if (!device_memory->is_all) write_modules(report, inventory, &w);
    report_device_memory_write_json(device_memory, &w);
    errors_json_write(&w, report->errors.items, report->errors.count);
    json_close_object(&w);
    output_append_char(w.output, '\n');
}
