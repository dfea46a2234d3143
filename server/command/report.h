// The report command: `hbmview report PATH [...]`, what the page says, for terminals and scripts.
//
//     PATH -> report_inventory -> programs -> report_data -> text, markdown     report_text, report_page, table
//             names only                      one module     json               report_json
//                                             at a time      csv                report_csv
//
// Everything that can be read is printed; what cannot is said on stderr (and under "errors" in JSON), and the exit
// status tells. Modules are loaded one at a time, so memory does not grow with their number.
#pragma once

#include "server/options.h"

// Runs the command with its arguments (without the names of program and command).
enum exit_code report_run(int count, char *const arguments[]);
