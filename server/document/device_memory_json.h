// A device memory profile as JSON: groups for lists, columns for the page. docs/api.md describes both.
#pragma once

#include "analysis/device_memory/device_memory_tree.h"
#include "server/text/fields.h"

extern const struct field device_memory_group_fields[], device_memory_figure_fields[];

// "bytes", "count" and "groups" of a profile, as keys of the object that is open.
void device_memory_totals_write(const struct device_memory_profile *profile, struct json_writer *w);

// "strings", "groups", "functions", "frames", "nodes", "parts" and "top" as columns, as keys of the object that is
// open.
MUST_USE bool device_memory_columns_write(const struct device_memory_profile *profile,
                                          const struct device_memory_tree *tree, struct arena *arena,
                                          struct json_writer *w, struct error *error);
