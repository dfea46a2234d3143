// The report as one JSON document, written module by module.
#pragma once

#include "server/report/report_data.h"

void report_json_write(struct report *report);
