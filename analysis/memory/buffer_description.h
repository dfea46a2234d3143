// What a logical buffer is called and where it comes from: the words of its card and of its row.
//
// Names are XProf's (MakeHeapObject and GetSourceInfo in xprof/convert/hlo_proto_to_memory_visualization_utils.cc and
// xprof/utils/hlo_module_utils.cc, openxla/xprof a27d00aa): "fusion.1{0}" is element 0 of fusion.1's tuple; the source
// is the instruction's own file and line, else the innermost frame of its stack.
#pragma once

#include "analysis/memory/memory_view.h"

struct buffer_description {
    struct bytes instruction;  // "fusion.1"; empty for a buffer whose instruction is unknown
    struct bytes name;         // "fusion.1{0}"
    struct bytes opcode;
    struct bytes computation;
    struct bytes op_name;      // framework op: "jit(f)/dot_general"
    struct bytes shape;        // as XLA writes it
    struct bytes source_file;  // empty when unknown
    int32_t source_line;       // 0 when unknown
    int32_t stack_frame_id;    // for stack_trace_read
};

// Describes many buffers of one module. Programs repeat a few hundred shapes over thousands of buffers, so the texts of
// recent shapes are kept: a direct-mapped cache by the bytes of the ShapeProto; those of wide ones for good.
struct buffer_describer {
    const struct hlo_module *module;
    enum memory_view_scope scope;
    struct arena *arena;
    struct shape_words *recent_shapes;
    struct wide_shapes wide_shapes;
};

// False when the arena is at its limit.
MUST_USE bool buffer_describer_init(struct buffer_describer *describer, const struct hlo_module *module,
                                    enum memory_view_scope scope, struct arena *arena);

// Describes buffer `buffer` (HLO_NONE gives empty words). Strings are views into the module and texts on the arena; at
// the arena's limit texts are empty.
struct buffer_description buffer_describe(struct buffer_describer *describer, uint32_t buffer);

// Only `name`, for those who need no more.
struct bytes buffer_name(const struct buffer_describer *describer, uint32_t buffer);

// "train.py:55"; empty when unknown. On `arena`.
struct bytes buffer_source_text(const struct buffer_description *buffer, struct arena *arena);

// The shape of a logical buffer, when that of its instruction is at hand.
struct bytes buffer_shape_text(struct buffer_describer *describer, uint32_t buffer, struct bytes instruction_shape);
