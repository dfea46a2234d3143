// The document of /api/v1/buffer (docs/api.md): everything about one logical buffer.
#pragma once

#include "analysis/memory/buffer_description.h"
#include "server/text/json_writer.h"

// `view` is exact; `buffer` is an index into its module's buffers. False when `scratch` is at its limit.
MUST_USE bool buffer_json_write(const struct memory_view *view, uint32_t buffer, struct arena *scratch,
                                struct json_writer *w, struct error *error);
