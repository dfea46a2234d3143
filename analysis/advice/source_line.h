// Which line of the source an instruction is of, and by which others it was called: the same number, the same lines.
//
//     for layer in layers:           model.py:90   1
//         x = x @ layer.up           model.py:41   2, called from 1: of every layer
//
// From a module's stack frames; text and older dumps may have none.
#pragma once

#include "analysis/hlo/hlo_module.h"

// 0: it does not say.
int32_t source_line_of(const struct hlo_module *module, uint32_t instruction);
