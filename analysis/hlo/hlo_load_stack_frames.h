// The stack frames of a module (its stack_frame_index), into columns. Private to this room.
#pragma once

#include "analysis/hlo/hlo_module.h"

MUST_USE bool hlo_load_stack_frames(struct arena *arena, struct hlo_module *module, struct error *error);
