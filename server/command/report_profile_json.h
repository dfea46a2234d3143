// Memory over time as one JSON document, written memory by memory. Its keys are those of docs/api.md.
#pragma once

#include "server/command/report_profile_data.h"

void report_profile_json_write(struct report_profile *p);
