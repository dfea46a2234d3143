#include "server/command/report_formats.h"

#include "server/document/groups_json.h"
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

struct asked_row {  // of groups
    const char *by;
    uint32_t step;
};

static const struct field asked_fields[] = {
    FIELD("by", struct asked_row, by),
    FIELD("step", struct asked_row, step),
    FIELD_END,
};

static void begin_row(const struct report_program *program, int64_t space, struct csv_row *csv) {
    char name[MEMORY_SPACE_NAME_BYTES];
    csv_put_text(csv, bytes_of(program->session->name));
    csv_put_text(csv, bytes_of(program->hosts[0]));
    csv_put_text(csv, program->program->name);
    fields_write_csv(csv, program_id_field, program->program);
    fields_write_csv(csv, space_fields, &(struct space_row){space, memory_space_name(space, name)});
}

static void write_header(struct report *report) {
    static const char *const names[] = {"session", "host", "module"};
    struct csv_row csv = {.output = &report->sink.output};
    bool has_groups = report->options.has_groups;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) csv_put_text(&csv, bytes_of(names[i]));
    fields_write_csv_names(&csv, program_id_field);
    fields_write_csv_names(&csv, space_fields);
    if (has_groups) fields_write_csv_names(&csv, asked_fields);
    fields_write_csv_names(&csv, has_groups ? group_csv_fields((enum memory_group_weight)report->options.weight)
                                            : buffer_fields);
    csv_end_row(&csv);
}

static void write_buffers(struct report *report, const struct report_module *module, struct report_space *space) {
    for (size_t i = 0; i < space->peak.largest_count && report_sink_is_open(&report->sink); i++) {
        struct report_buffer buffer = report_buffer_read(space, i);
        struct csv_row csv = {.output = &report->sink.output};
        begin_row(module->program, space->view->totals.space, &csv);
        fields_write_csv(&csv, buffer_fields, &buffer);
        csv_end_row(&csv);
        report_sink_drain(&report->sink);
    }
}

static void write_group(struct report *report, const struct report_module *module, const struct report_groups *made,
                        const struct group_row *row) {
    struct csv_row csv = {.output = &report->sink.output};
    struct asked_row asked = {memory_group_by_name(made->grouping.by), made->groups.step};
    begin_row(module->program, made->grouping.view->totals.space, &csv);
    fields_write_csv(&csv, asked_fields, &asked);
    fields_write_csv(&csv, group_csv_fields(made->groups.weight), row);
    csv_end_row(&csv);
    report_sink_drain(&report->sink);
}

// What --top cuts off is one row, so that those of a memory space sum to what is live.
static void write_groups(struct report *report, struct report_module *module, const struct memory_view *view) {
    struct report_groups made;
    if (!report_groups_make(report, module, view, &made)) return;
    for (uint32_t i = 0; i < made.shown_count && report_sink_is_open(&report->sink); i++) {
        struct group_row row = group_row_of(&made.groups, i);
        write_group(report, module, &made, &row);
    }
    struct group_row rest = group_rest(&made.groups, made.shown_count);
    rest.key = BYTES("(left out)");
    if (made.shown_count < made.groups.row_count) write_group(report, module, &made, &rest);
}

static void write_space(struct report *report, struct report_module *module, int64_t number) {
    struct report_space space;
    if (!report_space_build(report, module, number, &space)) return;
    if (report->options.has_groups)
        write_groups(report, module, space.view);
    else
        write_buffers(report, module, &space);
}

void report_csv_write(struct report *report, const struct report_inventory *inventory) {
    write_header(report);
    for (size_t i = 0; i < inventory->program_count && report_sink_is_open(&report->sink); i++) {
        struct report_module module;
        struct memory_totals_list spaces = {0};
        progress_step(report->options.progress, "program", i + 1, inventory->program_count);
        if (report_module_load(report, &inventory->programs[i], &module))
            report_module_spaces(report, &module, &spaces);
        for (size_t k = 0; k < spaces.space_count; k++) write_space(report, &module, spaces.spaces[k].space);
        report_module_free(&module);
    }
}
