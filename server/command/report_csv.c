#include "server/command/report_formats.h"

#include "server/document/program_fields.h"

struct space_row {
    int64_t space;
    const char *name;
};

static const struct field space_fields[] = {
    FIELD("memory_space", struct space_row, space),
    FIELD("memory_space_name", struct space_row, name),
    FIELD_END,
};

static const struct field buffer_fields[] = {
    FIELD("logical_buffer_id", struct report_buffer, logical_buffer_id),
    FIELD("name", struct report_buffer, words.name),
    FIELD("opcode", struct report_buffer, words.opcode),
    FIELD("category", struct report_buffer, category),
    FIELD("size_bytes", struct report_buffer, row.size_bytes),
    FIELD("unpadded_bytes", struct report_buffer, row.unpadded_bytes),
    FIELD("shape", struct report_buffer, words.shape),
    FIELD("op_name", struct report_buffer, words.op_name),
    FIELD("source", struct report_buffer, source),
    FIELD("start_step", struct report_buffer, row.start_step),
    FIELD("end_step", struct report_buffer, row.end_step),
    FIELD_END,
};

static void write_buffer(const struct report_program *program, int64_t space, const struct report_buffer *buffer,
                         struct output *output) {
    char name[MEMORY_SPACE_NAME_BYTES];
    struct csv_row csv = {.output = output};
    csv_put_text(&csv, bytes_of(program->session->name));
    csv_put_text(&csv, bytes_of(program->hosts[0]));
    csv_put_text(&csv, program->program->name);
    fields_write_csv(&csv, program_id_field, program->program);
    fields_write_csv(&csv, space_fields, &(struct space_row){space, memory_space_name(space, name)});
    fields_write_csv(&csv, buffer_fields, buffer);
    csv_end_row(&csv);
}

static void write_header(struct output *output) {
    static const char *const names[] = {"session", "host", "module"};
    struct csv_row csv = {.output = output};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) csv_put_text(&csv, bytes_of(names[i]));
    fields_write_csv_names(&csv, program_id_field);
    fields_write_csv_names(&csv, space_fields);
    fields_write_csv_names(&csv, buffer_fields);
    csv_end_row(&csv);
}

static void write_space(struct report *report, struct report_module *module, int64_t number) {
    struct report_space space;
    if (!report_space_build(report, module, number, &space)) return;
    for (size_t i = 0; i < space.peak.largest_count && report_sink_is_open(&report->sink); i++) {
        struct report_buffer buffer = report_buffer_read(&space, i);
        write_buffer(module->program, number, &buffer, &report->sink.output);
        report_sink_drain(&report->sink);
    }
}

void report_csv_write(struct report *report, const struct report_inventory *inventory) {
    write_header(&report->sink.output);
    for (size_t i = 0; i < inventory->program_count && report_sink_is_open(&report->sink); i++) {
        struct report_module module;
        struct memory_totals_list spaces = {0};
        if (report_module_load(report, &inventory->programs[i], &module))
            report_module_spaces(report, &module, &spaces);
        for (size_t k = 0; k < spaces.space_count; k++) write_space(report, &module, spaces.spaces[k].space);
        report_module_free(&module);
    }
}
