// An explanation: as the document of `hbmview explain --format=json` and of POST /api/v1/explain (docs/api.md), and as
// text for a terminal, or as Markdown for an issue.
#pragma once

#include "server/explanation/explanation.h"
#include "server/text/json_writer.h"

// `scratch` is for links and words; at its limit they are null.
void explain_json_write(const struct explanation *explanation, struct arena *scratch, struct json_writer *w);

// The answer first: the verdict, who holds it, the plan; then each change, and what all that rests on.
void explain_text_write(const struct explanation *explanation, bool is_markdown, struct arena *arena,
                        struct output *output);
