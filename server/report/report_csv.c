#include "server/report/report_csv.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/text/utf8.h"

// --- Fields ---

struct csv_row {
    struct output *output;
    bool needs_comma;
};

static void separate(struct csv_row *row) {
    if (row->needs_comma) output_append_char(row->output, ',');
    row->needs_comma = true;
}

static bool needs_quotes(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        if (strchr(",\"\r\n", text.data[i])) return true;  // and NUL
    }
    return text.size > 0 && (text.data[0] == ' ' || text.data[text.size - 1] == ' ');
}

// One character; what is not UTF-8, and NUL, becomes U+FFFD.
static size_t put_character(const uint8_t *at, size_t left, struct output *output) {
    struct utf8_step step = utf8_next(at, left);
    if (*at == '"') output_append_char(output, '"');
    output_append(output, step.is_valid && *at ? (struct bytes){at, step.size} : BYTES("\xEF\xBF\xBD"));
    return step.size;
}

static void put_text(struct csv_row *row, struct bytes text) {
    bool is_quoted = needs_quotes(text);
    separate(row);
    if (is_quoted) output_append_char(row->output, '"');
    for (size_t at = 0; at < text.size;) at += put_character(text.data + at, text.size - at, row->output);
    if (is_quoted) output_append_char(row->output, '"');
}

static void put_number(struct csv_row *row, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    put_text(row, bytes_of(digits));
}

static void put_program_id(struct csv_row *row, const struct xspace_program *program) {
    char digits[24] = "";
    if (program->has_program_id) snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)program->program_id);
    put_text(row, bytes_of(digits));
}

// --- Rows ---

static const char HEADER[] = "session,host,module,program_id,memory_space,memory_space_name,logical_buffer_id,name,"
                             "opcode,category,size_bytes,unpadded_bytes,shape,op_name,source,start_step,end_step\n";

static void write_buffer(const struct report_program *program, int64_t space, const struct report_buffer *buffer,
                         struct output *output) {
    char name[MEMORY_SPACE_NAME_BYTES];
    struct csv_row row = {.output = output};
    put_text(&row, bytes_of(program->session->name));
    put_text(&row, bytes_of(program->hosts[0]));
    put_text(&row, program->program->name);
    put_program_id(&row, program->program);
    put_number(&row, space);
    put_text(&row, bytes_of(memory_space_name(space, name)));
    put_number(&row, buffer->logical_buffer_id);
    put_text(&row, buffer->words.name);
    put_text(&row, buffer->words.opcode);
    put_text(&row, bytes_of(allocation_category_name(buffer->row->category)));
    put_number(&row, buffer->row->size_bytes);
    put_number(&row, buffer->row->unpadded_bytes);
    put_text(&row, buffer->words.shape);
    put_text(&row, buffer->words.op_name);
    put_text(&row, bytes_of(buffer->source));
    put_number(&row, buffer->row->start_step);
    put_number(&row, buffer->row->end_step);
    output_append_char(output, '\n');
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
