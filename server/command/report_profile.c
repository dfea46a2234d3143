#include "server/command/report_formats.h"

bool report_profile_write(struct report *report) {
    struct report_profile profile;
    report_profile_open(report, &profile);
    if (report->options.format == FORMAT_JSON)
        report_profile_json_write(&profile);
    else if (report->options.format == FORMAT_CSV)
        report_profile_csv_write(&profile);
    else
        report_profile_text_write(&profile);
    return report_profile_tell_limit(&profile);
}
