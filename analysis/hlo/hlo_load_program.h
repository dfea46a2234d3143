// The program of an HloProto (HloModuleProto), into a module's columns: computations and instructions. Private to this
// room. Touches nothing of a module that hlo_load_assignment.h does.
#pragma once

#include "analysis/hlo/hlo_module.h"

MUST_USE bool hlo_load_program(struct bytes message, struct arena *arena, struct hlo_module *module,
                               struct error *error);
