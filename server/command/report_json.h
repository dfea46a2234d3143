// The report as one JSON document, written module by module.
#pragma once

#include "server/command/report_data.h"

void report_json_write(struct report *report);
