// The document of /api/v1/memory_profile/timeline (docs/api.md): the entries of one window, in columns.
#pragma once

#include "analysis/profile/questions/timeline_window.h"
#include "server/text/json_writer.h"

// Keys of an open object: "events", "is_exact", "before" and the columns. False when `scratch` is at its limit.
MUST_USE bool timeline_window_write(const struct memory_timeline *timeline, const struct timeline_pyramid *pyramid,
                                    const struct timeline_window *window, struct arena *scratch, struct json_writer *w);
