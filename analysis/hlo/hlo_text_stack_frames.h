// The stack frames at the head of a program's text, written as a StackFrameIndexProto. Private to hlo_text_*.
//
//     FileNames                 FileLocations
//     1 "/home/u/train.py"      1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=0}
//     FunctionNames             StackFrames
//     1 "<module>"              1 {file_location_id=1 parent_frame_id=1}
//
// Numbers go from 1 without gaps, as XLA writes them; the section ends where they do not. The printed parent is one
// more than the proto's, whose 0 is none (StackFrameIndexProto and its printing in xla/hlo/ir/hlo_module.cc).
#pragma once

#include "analysis/base/text_writer.h"
#include "analysis/hlo/hlo_text_scan.h"

// From the line after the module's name; `lines` is a copy of the reader's place.
void hlo_text_encode_stack_frames(struct text_writer *w, struct text_lines lines, struct arena *arena);
