// An error as a JSON value: {"code", "message", "file", "offset"}, null for NULL.
#pragma once

#include "analysis/base/error.h"
#include "server/text/json_writer.h"

void error_json_write(struct json_writer *w, const struct error *error);

// "errors": [...], a key of the object that is open.
void errors_json_write(struct json_writer *w, const struct error *errors, size_t count);

// With another code than the error's own.
void error_json_write_as(struct json_writer *w, const char *code, const struct error *error);
