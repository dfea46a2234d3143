#include "server/command/report_profile.h"

#include "server/command/report_profile_csv.h"
#include "server/command/report_profile_json.h"
#include "server/command/report_profile_text.h"

bool report_profile_write(struct report *report, struct arena *arena) {
    struct report_profile profile;
    report_profile_open(report, arena, &profile);
    switch (report->options.format) {
        case REPORT_TEXT:
        case REPORT_MARKDOWN:
            report_profile_text_write(&profile);
            break;
        case REPORT_JSON:
            report_profile_json_write(&profile);
            break;
        case REPORT_CSV:
            report_profile_csv_write(&profile);
            break;
    }
    return report_profile_tell_limit(&profile);
}
