// Which line of the user's program an instruction comes from.
//
// A stack is written innermost frame first, "file:line:column" a frame, as XProf prints it (xprof/utils/
// hlo_module_utils.cc in openxla/xprof a27d00aa). Parents that form a cycle end the stack; so does
// STACK_TRACE_MAX_FRAMES, and the caller can tell.
#pragma once

#include "analysis/hlo/hlo_module.h"

enum { STACK_TRACE_MAX_FRAMES = 256 };

struct stack_trace_frame {
    struct bytes file;
    struct bytes function;
    int32_t line, column;
};

// Frames of `stack_frame_id` (1-based; 0 is none), innermost first. Writes at most `capacity`, returns how many.
size_t stack_trace_read(const struct hlo_module *module, int32_t stack_frame_id, struct stack_trace_frame *frames,
                        size_t capacity);

// Where an instruction says that it is from: its own file and line, else the innermost frame of its stack. No file when
// it says nothing.
struct stack_trace_frame stack_trace_place(const struct hlo_module *module, const struct hlo_metadata *metadata);
