// The argument that an entry parameter is: JAX writes its place among the arguments into the op_name.
//
//     op_name                           path                          root
//     params['layers'][3]['w']          params['layers'][3]['w']      params.layers
//     opt_state[0].nu['layers'][3]      opt_state[0].nu['layers'][3]  opt_state[0].nu
//     state.params['params']['wte']     ...                           state.params.params.wte
//     params[0][1]                      params[0][1]                  params
//
// The root is what a reader thinks in: the argument and its parts down to the first that is neither a number nor a mere
// box (params, opt_state, ...). Pure.
#pragma once

#include "analysis/base/arena.h"

// The root of a path, on `arena`; empty at its limit.
struct bytes argument_path_root(struct bytes path, struct arena *arena);
