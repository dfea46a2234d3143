// Advice for a terminal, or as Markdown: what fits first, then by what it saves.
#pragma once

#include "server/document/advice_json.h"
#include "server/text/output.h"

void advice_text_write(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output);
