// A program of a session's file, loaded: an HloProto, or what a dump says in text.
//
//     xplane, HLO file, proto of a dump    bytes [offset, offset + size)  ──> hlo_module_load
//     buffer assignment in text            the file, and those beside it  ──> hlo_text_load
//
// The one place where files in text become columns: whoever gets the module need not know which it was.
#pragma once

#include "analysis/hlo/hlo_module.h"
#include "analysis/input/byte_source.h"
#include "analysis/input/input_file.h"
#include "analysis/input/xspace_index.h"

enum { PROGRAM_LOAD_BYTES_MAX = INT32_MAX };  // a protobuf message cannot be larger

// `source` is the open file. Bytes, columns and texts are on `arena`; the module lives as long. Errors name the file.
MUST_USE bool program_load(const struct input_file *file, const struct xspace_program *program,
                           struct byte_source *source, struct arena *arena, struct hlo_module *module,
                           struct error *error);
