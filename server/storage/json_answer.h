// Answers of servers that give credentials: a JSON object of texts and numbers.
#pragma once

#include <jansson.h>

#include "analysis/base/arena.h"

// The object; NULL: it is none. To be given back by json_decref.
json_t *json_answer_read(struct bytes body);

// A text of it, on the arena; NULL: there is none.
const char *json_answer_text(const json_t *object, const char *key, struct arena *arena);
