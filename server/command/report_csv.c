#include "server/command/report_csv.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/text/csv_row.h"

static void put_program_id(struct csv_row *row, const struct xspace_program *program) {
    char digits[24] = "";
    if (program->has_program_id) snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)program->program_id);
    csv_put_text(row, bytes_of(digits));
}

static const char HEADER[] = "session,host,module,program_id,memory_space,memory_space_name,logical_buffer_id,name,"
                             "opcode,category,size_bytes,unpadded_bytes,shape,op_name,source,start_step,end_step\n";

static void write_buffer(const struct report_program *program, int64_t space, const struct report_buffer *buffer,
                         struct output *output) {
    char name[MEMORY_SPACE_NAME_BYTES];
    struct csv_row row = {.output = output};
    csv_put_text(&row, bytes_of(program->session->name));
    csv_put_text(&row, bytes_of(program->hosts[0]));
    csv_put_text(&row, program->program->name);
    put_program_id(&row, program->program);
    csv_put_number(&row, space);
    csv_put_text(&row, bytes_of(memory_space_name(space, name)));
    csv_put_number(&row, buffer->logical_buffer_id);
    csv_put_text(&row, buffer->words.name);
    csv_put_text(&row, buffer->words.opcode);
    csv_put_text(&row, bytes_of(allocation_category_name(buffer->row->category)));
    csv_put_number(&row, buffer->row->size_bytes);
    csv_put_number(&row, buffer->row->unpadded_bytes);
    csv_put_text(&row, buffer->words.shape);
    csv_put_text(&row, buffer->words.op_name);
    csv_put_text(&row, bytes_of(buffer->source));
    csv_put_number(&row, buffer->row->start_step);
    csv_put_number(&row, buffer->row->end_step);
    csv_end_row(&row);
}

static void write_space(struct report *report, struct report_module *module, int64_t number) {
    struct report_space space;
    if (!report_space_build(report, module, number, &space)) return;
    for (size_t i = 0; i < space.shown_count && report_sink_is_open(&report->sink); i++) {
        struct report_buffer buffer = report_buffer_read(&space, i);
        write_buffer(module->program, number, &buffer, &report->sink.output);
        report_sink_drain(&report->sink);
    }
}

void report_csv_write(struct report *report) {
    output_append(&report->sink.output, BYTES(HEADER));
    for (size_t i = 0; i < report->inventory.program_count && report_sink_is_open(&report->sink); i++) {
        struct report_module module;
        struct memory_totals_list spaces = {0};
        if (report_module_load(report, &report->inventory.programs[i], &module))
            report_module_spaces(report, &module, &spaces);
        for (size_t k = 0; k < spaces.space_count; k++) write_space(report, &module, spaces.spaces[k].space);
        report_module_free(&module);
    }
}
