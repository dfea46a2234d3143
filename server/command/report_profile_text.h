// Memory over time in words: a table of all memories, then those of the one session in detail; of several sessions the
// memory with the highest peak. As text or as Markdown.
#pragma once

#include "server/command/report_profile_data.h"

void report_profile_text_write(struct report_profile *p);
