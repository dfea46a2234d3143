// What grows from step to step (step_growth.h), as the endpoint and the report tell it: in fields (growth_json), and in
// one sentence (growth_text).
#pragma once

#include "analysis/profile/questions/step_growth.h"
#include "server/text/fields.h"

// Of struct growth_op: its name; how it grows; when, and what it holds.
extern const struct field growth_op_field[], growth_slope_fields[], growth_held_fields[];

// "verdict": whether memory leaks, where, and in words (growth_text).
void growth_verdict_write(const struct step_growth *growth, const char *text, struct json_writer *w);

// "Relu grew by 1.00 MiB in each of 11 steps": how an op that grows does. NULL when the arena is at its limit.
const char *growth_op_text(const struct step_growth *growth, const struct growth_op *op, struct arena *arena);

// Whether memory leaks from step to step, and where. NULL when the arena is at its limit.
const char *growth_text(const struct step_growth *growth, struct arena *arena);
