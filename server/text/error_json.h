// An error as JSON: {"code", "message", "file", "offset"}.
#pragma once

#include "analysis/base/error.h"
#include "server/text/json_writer.h"

// "error": ..., a key of the object that is open; null for NULL, and for ERROR_NONE.
void error_json_write(struct json_writer *w, const struct error *error);

// "errors": [...], the same of several.
void errors_json_write(struct json_writer *w, const struct error *errors, size_t count);

// The object alone, with another code than the error's own.
void error_json_write_as(struct json_writer *w, const char *code, const struct error *error);
