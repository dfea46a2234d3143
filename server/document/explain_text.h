// An explanation as text for a terminal, or as Markdown for an issue.
#pragma once

#include "server/explanation/explanation.h"
#include "server/text/output.h"

// `has_logdir`: profiles were looked for, so that a missing join is told.
void explain_text_write(const struct explanation *explanation, bool is_markdown, bool has_logdir, struct arena *arena,
                        struct output *output);
