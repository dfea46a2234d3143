// The buffer assignment of an HloProto (BufferAssignmentProto), into a module's columns: buffers, allocations, traces.
// Private to this room. Touches nothing of a module that hlo_load_program.h does, so the buffers' instructions are left
// at HLO_NONE. An empty message leaves all counts zero.
#pragma once

#include "analysis/hlo/hlo_module.h"

MUST_USE bool hlo_load_assignment(struct bytes message, struct arena *arena, struct hlo_module *module,
                                  struct error *error);
