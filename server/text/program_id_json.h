// "program_id" of a program: an unsigned 64-bit number (TPU programs have fingerprints past 2^63), null when unknown.
#pragma once

#include "analysis/input/xspace_index.h"
#include "server/text/json_writer.h"

void program_id_write(const struct xspace_program *program, struct json_writer *w);
