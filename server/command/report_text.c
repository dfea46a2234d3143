#include "server/command/report_formats.h"

#include "server/command/report_overview.h"

void report_text_write(struct report *report, const struct report_inventory *inventory) {
    struct arena arena;
    arena_init(&arena, 0);
    struct page page = report_page_on(report, &report->sink.output, &arena);
    struct report_overview overview;
    if (report_overview_read(report, inventory, &arena, &overview)) {
        report_overview_write(report, &overview, &page);
        report_sink_drain(&report->sink);
        if (overview.biggest) report_details_write(report, overview.biggest, overview.row_count > 1, &page);
    } else {
        report_errors_say(&report->errors, ERROR_TOO_BIG, NULL, "There is not enough memory for the table of modules.");
    }
    arena_free(&arena);
}
