#include "server/command/report_limit.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/size_text.h"
#include "server/command/report_overview.h"
#include "server/text/printable.h"

static bool is_within(struct report *report, const struct report_program *program) {
    const struct report_options *options = &report->options;
    struct report_overview_row row = report_overview_look(report, program);
    int64_t limit = options->fail_over_bytes;
    int64_t bytes = options->fail_of == FIGURE_TOTAL ? row.total_bytes : row.peak_bytes;
    char size[SIZE_TEXT_BYTES], most[SIZE_TEXT_BYTES], space[MEMORY_SPACE_NAME_BYTES];
    if (!row.has_space || bytes <= limit) return true;
    progress_hide(report->options.progress);
    command_say("%s / %s: the %s in %s, %s (%" PRId64 " bytes), is above %s (%" PRId64 ").", program->session->name,
                program->name, options->fail_of == FIGURE_TOTAL ? "total" : "peak", memory_space_name(row.space, space),
                size_text(bytes, size), bytes, size_text(limit, most), limit);
    return false;
}

bool report_limit_check(struct report *report, const struct report_inventory *inventory) {
    bool are_within = true;
    size_t errors = report->errors.count;
    if (report->options.fail_over_bytes == REPORT_ALL) return true;
    for (size_t i = 0; i < inventory->program_count; i++) are_within &= is_within(report, &inventory->programs[i]);
    report->errors.count = errors;  // what cannot be read was said when it was written
    progress_hide(report->options.progress);
    if (!inventory->program_count)
        fputs("hbmview: --fail-over: there is no program here, so none was compared.\n", stderr);
    return are_within;
}
