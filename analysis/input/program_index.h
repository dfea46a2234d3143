// Where the programs of a session's file are, whatever kind of file it is:
//
//     XSpace               xspace_index_read: many programs, each a range of bytes that is an HloProto
//     HLO file             one program: the whole file
//     dump, proto or text  one program, called as the folder's list has it (dump_files.h)
//
// What a range of bytes means is for analysis/hlo/program_load.h to know.
#pragma once

#include "analysis/input/byte_source.h"
#include "analysis/input/input_file.h"
#include "analysis/input/xspace_index.h"

// As xspace_index_read: on false, what is whole is in *index all the same.
MUST_USE bool program_index_read(const struct input_file *file, struct byte_source *source, struct arena *arena,
                                 struct xspace_index *index, struct error *error);
