// The formats that commands write in.
#pragma once

#include "server/flags.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };

// For flags: all of them, and those of commands whose answer is no table.
extern const struct flag_choice format_choices[], format_choices_without_csv[];
