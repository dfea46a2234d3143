// One device memory profile as words and tables.
#pragma once

#include "analysis/device_memory/device_memory_tree.h"
#include "server/command/report_sessions.h"

// `tree` is of the user's own frames.
void report_device_memory_text(const char *session, const char *file_name, const struct device_memory_profile *profile,
                               const struct device_memory_tree *tree, int top, struct page *page);
