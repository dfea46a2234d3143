// The name and the line of code of a change (change.h), filled in with what the program tells.
//
//     inputs' op_names   params['w']  params['b']  state[0].mu['w']  tokens     all but the tokens are to be donated:
//     arguments          0 params                  1 state           2 tokens   donate_argnums=(0, 1)  # params, state
//
// JAX names the inputs so, in the order of the arguments. It drops arguments that the step does not read, which makes
// the numbers behind them smaller: that is why the names stand beside them. Where inputs have no such names, arguments
// are not in order, or all of them are one (*args), nothing is filled in.
#pragma once

#include "analysis/advice/advisor.h"

// "accumulate gradients over 8 micro-batches", on `kept`; NULL: the change's own name.
const char *change_name_of(const struct advisor *advisor, const struct advice_item *item);

// On `kept`; NULL: the change's own line has nothing that is to be filled in, or the program does not tell.
const char *change_code_of(const struct advisor *advisor, const struct advice_item *item);
