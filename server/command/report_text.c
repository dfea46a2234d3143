#include "server/command/report_formats.h"

#include "server/command/report_details.h"

static void write_with(struct report *report, struct arena *arena) {
    struct report_page page = {.output = &report->sink.output,
                               .arena = arena,
                               .is_markdown = report->options.format == FORMAT_MARKDOWN,
                               .width = report_page_width(report->sink.fd)};
    struct report_overview overview;
    struct error error;
    if (!report_overview_read(report, arena, &overview)) {
        error_set(&error, ERROR_TOO_BIG, "There is not enough memory for the table of modules.");
        report_errors_add(&report->errors, &error);
        return;
    }
    report_overview_write(report, &overview, arena, &page);
    report_sink_drain(&report->sink);
    if (overview.biggest) report_details_write(report, overview.biggest, overview.row_count > 1, &page);
}

void report_text_write(struct report *report) {
    struct arena arena;
    arena_init(&arena, 0);
    write_with(report, &arena);
    arena_free(&arena);
}
