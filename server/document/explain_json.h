// The document of `hbmview explain --format=json` and of POST /api/v1/explain (docs/api.md).
#pragma once

#include "server/explanation/explanation.h"
#include "server/text/json_writer.h"

// `scratch` is for links and words; at its limit they are null.
void explain_json_write(const struct explanation *explanation, struct arena *scratch, struct json_writer *w);
