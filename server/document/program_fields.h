// "program_id" of a struct xspace_program: an unsigned 64-bit number (TPU programs have fingerprints past 2^63), null
// when unknown.
#pragma once

#include "server/text/fields.h"

extern const struct field program_id_field[];
