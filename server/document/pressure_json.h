// What memory_pressure.h found, as the keys of an open JSON object: state, tightest, largest_request, moments, text.
// The endpoint and the report write the same.
#pragma once

#include "server/document/pressure_text.h"
#include "server/text/json_writer.h"

// False when the arena, which the sentences are made on, is at its limit.
MUST_USE bool pressure_json_write(const struct pressure_told *told, struct arena *arena, struct json_writer *w);
