// What is kept by a block with a name is the block's, however few such arrays there are.
//
//     block00   four arrays of 112 x 112 x 16, at the beginning of the program: too few in too short a time
//     block01   one of 113 x 113 x 64
//
// Only where names tell most of what is kept. Says nothing of loops.
#pragma once

#include "analysis/advice/residual_group.h"

// Makes groups whose arrays mostly have a block by name (module_scope.h) the blocks', joined to them. `group_of_span`:
// of residuals.h.
void scoped_join(const struct advisor *advisor, const uint32_t *group_of_span, struct residual_group *groups,
                 uint32_t group_count);
