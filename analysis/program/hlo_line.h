// One operation as XLA writes it (HloInstruction::ToString), for people to read and to copy:
//
//     ROOT %fusion.7 = bf16[8,1024]{1,0:T(8,128)} fusion(%p.1, %copy.2), kind=kLoop, calls=%body,
//         metadata={op_name="jit(f)/add" source_file="train.py" source_line=53}             (on one line)
//
// Of the attributes it has those that say what is done with what: kind, index, dimensions, target, called computations.
// Literals, windows, dimension numbers, shardings and the backend's settings it has not.
#pragma once

#include "analysis/base/text_writer.h"
#include "analysis/program/program_graph.h"

// A writer at its limit remembers that.
void hlo_line_put(struct text_writer *text, const struct program_graph *graph, uint32_t node);
