// The buffer assignment of an HloProto (BufferAssignmentProto), into a module's columns: buffers, allocations, traces.
// Private to this room. Touches nothing of a module that hlo_load_program.h does, so the buffers' instructions are left
// at HLO_NONE. An empty message leaves all counts zero.
#pragma once

#include "analysis/hlo/hlo_module.h"

MUST_USE bool hlo_assignment_count(struct bytes message, struct hlo_module *module, struct error *error);
MUST_USE bool hlo_assignment_columns(struct arena *arena, struct hlo_module *module);  // false at the arena's limit
MUST_USE bool hlo_assignment_fill(struct bytes message, struct hlo_module *module, struct error *error);
