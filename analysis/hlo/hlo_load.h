// An HloProto, loaded into the columns of hlo_module.h.
//
//     blob                     [ module ............... | buffer assignment ... ]
//                                     |                       |
//     walked once               hlo_load_program        hlo_load_assignment        at once, where they are long enough
//     into columns that grow          |                       |
//                                      \_ hlo_load_links _/                 which instruction defines which buffer
//
// A hostile count cannot ask for more than a fixed multiple of the blob's own size.
#pragma once

#include "analysis/hlo/hlo_module.h"

// Loads `blob` (borrowed) into columns on `arena`. Errors carry the offset inside the blob. A blob without a buffer
// assignment loads; its counts are zero.
MUST_USE bool hlo_module_load(struct bytes blob, struct arena *arena, struct hlo_module *module, struct error *error);
