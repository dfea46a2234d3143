// An entry of a map<int64, message> that stays in the file: event_metadata and stat_metadata of an XPlane.
#pragma once

#include "analysis/input/file_cursor.h"

// Its key (0 when missing) and its value, empty when missing.
MUST_USE bool map_entry_read(struct byte_source *source, const struct file_field *entry, int64_t *key,
                             struct file_field *value, struct error *error);
