// Passes that no trained weight has a part in: of a teacher, of the policy as it was. Nothing of them waits for a
// backward pass, and their layers are no blocks of what is trained.
//
//     frozen h0 . W -> h1 . W -> h2 ..  -> loss     products: these, whose activations are data and frozen weights
//     params x0 . w -> x1 . w -> x2 ..  -> loss     none of these, nor of W . x where W is frozen beside adapters
#pragma once

#include "analysis/advice/advisor.h"

// Fills advisor->untrained_products and untrained_weights. False at the arena's limit.
MUST_USE bool untrained_find(struct advisor *advisor);
