// What an op_name tells: jit(step)/transpose(jvp(checkpoint))/mlp/dot_general.
#pragma once

#include "analysis/base/arena.h"

enum phase { PHASE_OTHER, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER };

// transpose(jvp(..)) is backward, jvp(..) alone forward: how JAX names what differentiation makes.
enum phase op_name_phase(struct bytes op_name);

// The last component: "dot_general".
struct bytes op_name_primitive(struct bytes op_name);

// The named scopes on the way to the operation, without transformations and the outermost jit; where there are none,
// the primitive. On `arena`, empty at its limit. With stars, numbers that count layers are "*":
//
//     jit(step)/transpose(jvp(Model))/h/3/checkpoint/attn/dot_general    Model/h/3/attn     Model/h/*/attn
//     jit(step)/jvp()/dot_general                                        dot_general
struct bytes op_name_scope(struct bytes op_name, bool has_stars, struct arena *arena);
