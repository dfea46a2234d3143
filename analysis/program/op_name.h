// What an op_name tells: jit(step)/transpose(jvp(checkpoint))/mlp/dot_general.
#pragma once

#include "proto/bytes.h"

enum phase { PHASE_OTHER, PHASE_FORWARD, PHASE_BACKWARD };

// transpose(jvp(..)) is backward, jvp(..) alone forward: how JAX names what differentiation makes.
enum phase op_name_phase(struct bytes op_name);

// The last component: "dot_general".
struct bytes op_name_primitive(struct bytes op_name);
