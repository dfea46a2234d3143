// The document of /api/v1/buffer/hlo (docs/api.md): the program around the operation that makes a buffer.
#pragma once

#include "analysis/program/hlo_around.h"
#include "server/text/json_writer.h"

// Members of an object that is open.
void hlo_around_json_write(const struct hlo_around *around, struct json_writer *w);
