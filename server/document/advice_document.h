// Advice as JSON: what `hbmview advise --format=json` prints, /api/v1/advise answers and explain can embed; docs/api.md
// ("Advise") says each field. And as text for a terminal, or as Markdown.
#pragma once

#include "analysis/advice/advise.h"
#include "analysis/advice/change.h"
#include "analysis/advice/holding.h"
#include "server/text/json_writer.h"

struct advice_document {
    const struct advice *advice;
    const char *session, *host;  // NULL: not said
    const char *module;          // "jit_f(1)"
};

void advice_json_write(const struct advice_document *document, struct json_writer *w);

// The keys "plan", "plan_without_sharding", "alternatives", "nearest" and "least_ways" of an open object.
void advice_plan_json_write(const struct advice *advice, struct json_writer *w);

// The keys "held_by" and "held_by_part" of an open object.
void advice_holding_json_write(const struct advice *advice, struct json_writer *w);

// "Nearest: donate the inputs: about 9.10 GiB (...), 1.10 GiB too much; held by TPU v5p." Empty where some set fits.
const char *advice_nearest_text(const struct advice *advice, struct arena *arena);

// "Divided over at least 8 chips ..."; empty where that is not known or not needed.
const char *advice_ways_text(const struct advice *advice, struct arena *arena);

// What an intervention and a step of a plan are called, and their lines of code, for this program.
const char *advice_name(const struct advice_item *item);
const char *advice_code(const struct advice_item *item);
const char *advice_step_name(const struct advice_step *step);
const char *advice_step_code(const struct advice_step *step);

// "fits", "may_fit", "too_big"; NULL where no capacity was told.
const char *advice_fit_name(int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes);

// The same of one change; NULL too where it cannot be told.
const char *advice_item_fit_name(const struct advice_item *item, int64_t capacity_bytes);

// What an alternative has over the plan: "same_numerics".
const char *advice_kind_name(enum advice_kind kind);

// The same as the beginning of a line: "With the same numerics".
const char *advice_kind_words(enum advice_kind kind);

// "rematerialize and halve the batch: about 11.00 GiB (8.40 GiB to 13.60 GiB), fits 15.75 GiB." On `arena`.
const char *advice_plan_text(const struct advice_plan *plan, int64_t capacity_bytes, struct arena *arena);

// "15.19 GiB (12.92 GiB to 17.47 GiB), may fit 15.75 GiB", the end only with a capacity.
const char *advice_total_text(int64_t total_bytes, int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes,
                              struct arena *arena);

// What fits first, then by what it saves.
void advice_text_write(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output);
