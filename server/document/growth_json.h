// What grows from step to step (step_growth.h), as the endpoint and the report tell it.
#pragma once

#include "analysis/profile/questions/step_growth.h"
#include "server/text/fields.h"

// Of struct growth_op: its name; how it grows; when, and what it holds.
extern const struct field growth_op_field[], growth_slope_fields[], growth_held_fields[];

// "verdict": whether memory leaks, where, and in words (growth_text.h).
void growth_verdict_write(const struct step_growth *growth, const char *text, struct json_writer *w);
