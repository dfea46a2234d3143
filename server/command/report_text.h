// The report in words: a table of all modules, then the biggest one in detail. As text or as Markdown.
#pragma once

#include "server/command/report_data.h"

void report_text_write(struct report *report);
