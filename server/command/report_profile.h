// Memory over time in the report: `hbmview report PATH --tool memory_profile`.
//
//     PATH -> sessions, hosts -> report_profile_data -> text, markdown     report_profile_text, report_profile_details
//                                one file at a time     json               report_profile_json
//                                                       csv                report_profile_csv
#pragma once

#include "server/command/report_data.h"

// Writes it in the format of the options. What cannot be read is among the report's errors. False: a peak is above
// --fail-over, and stderr says which.
bool report_profile_write(struct report *report, struct arena *arena);
