#include "server/command/report_json.h"

#include "server/command/report_device_memory.h"
#include "server/text/error_json.h"
#include "server/text/program_id_json.h"

static void write_buffer(const struct report_buffer *buffer, struct json_writer *w) {
    json_open_object(w);
    json_write_int64_key(w, "logical_buffer_id", buffer->logical_buffer_id);
    json_write_string_key(w, "name", buffer->words.name);
    json_write_string_key(w, "opcode", buffer->words.opcode);
    json_write_int64_key(w, "size_bytes", buffer->row->size_bytes);
    json_write_int64_key(w, "unpadded_bytes", buffer->row->unpadded_bytes);
    json_write_string_key(w, "shape", buffer->words.shape);
    json_write_text_key(w, "category", allocation_category_name(buffer->row->category));
    json_write_string_key(w, "op_name", buffer->words.op_name);
    json_write_text_key(w, "source", buffer->source);
    json_write_int64_key(w, "start_step", buffer->row->start_step);
    json_write_int64_key(w, "end_step", buffer->row->end_step);
    json_close_object(w);
}

static void write_buffers(struct report *report, struct report_space *space, struct json_writer *w) {
    json_key(w, "buffers_at_peak");
    json_open_array(w);
    for (size_t i = 0; i < space->shown_count && report_sink_is_open(&report->sink); i++) {
        struct report_buffer buffer = report_buffer_read(space, i);
        write_buffer(&buffer, w);
        report_sink_drain(&report->sink);
    }
    json_close_array(w);
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
    json_write_int64_key(w, "buffers_at_peak_left_out", (int64_t)space.left_out_count);
    json_key(w, "notes");
    json_open_array(w);
    for (size_t i = 0; i < space.notes.count; i++) json_write_text(w, space.notes.texts[i]);
    json_close_array(w);
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
    if (program->host_count > 1) {
        json_key(w, "hosts");
        json_open_array(w);
        for (size_t i = 0; i < program->host_count; i++) json_write_text(w, program->hosts[i]);
        json_close_array(w);
    }
    json_write_string_key(w, "module", program->program->name);
    program_id_write(program->program, w);
    json_key(w, "memory_spaces");
    json_open_array(w);
    write_spaces(report, program, w);
    json_close_array(w);
    json_close_object(w);
}

void report_json_write(struct report *report) {
    const struct report_inventory *inventory = &report->inventory;
    struct json_writer w = json_writer_on(&report->sink.output);
    json_open_object(&w);
    json_key(&w, "modules");
    json_open_array(&w);
    for (size_t i = 0; i < inventory->program_count && report_sink_is_open(&report->sink); i++) {
        write_module(report, &inventory->programs[i], &w);
        report_sink_drain(&report->sink);
    }
    json_close_array(&w);
    if (report->device_memory) report_device_memory_write_json(report->device_memory, &w);
    json_key(&w, "errors");
    json_open_array(&w);
    for (size_t i = 0; i < report->errors.count; i++) error_json_write(&w, &report->errors.items[i]);
    json_close_array(&w);
    json_close_object(&w);
    output_append_char(w.output, '\n');
}
