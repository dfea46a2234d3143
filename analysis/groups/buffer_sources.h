// Which line of the reader's program a buffer comes from, or which argument it is; read once for a program.
//
//     %f = fusion(..)  stack: train.py:9 > gpt.py:53 > flax/linen/linear.py:287      the reader's line: gpt.py:53
//     %c = copy-start(%f)                                                            gpt.py:53, from its operand %f
//     %p = parameter(3), op_name "params['layers'][0]['w']"                          the argument of that path
//     %q = copy(%p)                                                                  that argument, from its operand %p
//
// The line is the innermost frame outside the frameworks (frameworks.h); where every frame is theirs, the innermost.
// What has no line of its own is asked of the program (leaf_origins.h), and says so. Lives on the caller's arena, with
// views into the module's blob and into `frameworks`.
#pragma once

#include "analysis/base/string_table.h"
#include "analysis/hlo/stack_trace.h"
#include "analysis/memory/memory_view.h"
#include "analysis/program/leaf_origins.h"

struct buffer_sources {
    struct program_graph graph;
    struct leaf_origins lines;  // who tells the line of an array, or is the argument
    struct leaf_origins names;  // who tells its op_name, or is the argument
    struct string_table files;  // that any operation names
    struct bytes *file_names;   // as short as tells them apart: "train.py"
    uint8_t *is_reader_file;    // outside the frameworks
};

MUST_USE bool buffer_sources_read(const struct hlo_module *module, const char *frameworks, struct arena *arena,
                                  struct buffer_sources *sources, struct error *error);

// Who tells of a row; the entry parameter for a row that is one. No node for an allocation that names no buffer.
struct leaf_origin buffer_source_of(const struct buffer_sources *sources, const struct leaf_origins *origins,
                                    const struct memory_buffer *row);

// Is it an argument of the program?
bool buffer_source_is_argument(const struct buffer_sources *sources, struct leaf_origin origin);

// An argument's path: the op_name of the parameter, else its name.
struct bytes buffer_source_argument(const struct buffer_sources *sources, uint32_t parameter);

// Which of `count` frames, innermost first, is the reader's.
size_t buffer_source_reader_frame(const struct buffer_sources *sources, const struct stack_trace_frame *frames,
                                  size_t count);

// The reader's line of a node that tells one: "gpt.py:53". On `arena`, empty at its limit.
struct bytes buffer_source_line(const struct buffer_sources *sources, uint32_t node, struct arena *arena);

// That line with its whole path: "/home/u/gpt.py:53".
struct bytes buffer_source_place(const struct buffer_sources *sources, uint32_t node, struct arena *arena);

// Every frame of its stack, the outermost first: "train.py:9;gpt.py:53;linear.py:287".
struct bytes buffer_source_stack(const struct buffer_sources *sources, uint32_t node, struct arena *arena);
