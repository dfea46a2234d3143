// Which instruction defines each logical buffer, once both halves of a module are loaded. Private to this room.
//
//     buffers       b0 -> i2      b1 -> i3      b2 -> i9 ...        in the order of their instructions, nearly always
//     instructions  i0 i1 i2 i3 ...... i9
//                            ^ last  ~~~> looked at first
//
// So the next instruction is looked for from the last one on, and a map of all is made only when that finds too little.
// Before 2022 buffers named their instruction instead: those go through a map of names.
#pragma once

#include "analysis/hlo/hlo_module.h"

// Fills in `instruction` of the module's buffers; what names no instruction stays HLO_NONE.
MUST_USE bool hlo_load_links(size_t scratch_limit_bytes, struct hlo_module *module, struct error *error);
