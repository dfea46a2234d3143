// Advice as JSON: what `hbmview advise --format=json` prints, /api/v1/advise answers and explain can embed; docs/api.md
// ("Advise") says each field. And as text for a terminal, or as Markdown.
#pragma once

#include "analysis/advice/advise.h"
#include "server/text/json_writer.h"

struct advice_document {
    const struct advice *advice;
    const char *session, *host;  // NULL: not said
    const char *module;          // "jit_f(1)"
};

void advice_json_write(const struct advice_document *document, struct json_writer *w);

// The key "plan" of an open object.
void advice_plan_json_write(const struct advice_plan *plan, struct json_writer *w);

// What fits first, then by what it saves.
void advice_text_write(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output);
