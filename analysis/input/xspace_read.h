// From an open file to its index, one walk over its fields.
//
// The walk reads keys and lengths, skips every plane but "/host:metadata" by its length, and inside that plane skips
// the blobs. So a 400 MB trace costs a few preads. An HloProto stat is a bytes stat named "Hlo Proto", "HLO Proto" or
// "hlo_proto" (old libtpu; xprof/utils/xplane_hlo_fixer.cc); the program id is the stat `program_id`, else the number
// in the event_metadata's name, else its id; the program's name is "module(program id)" (xprof/convert/xplane_to_hlo.cc
// and xprof/utils/hlo_proto_map.cc in openxla/xprof).
// Does not read the HloProto, but for its module's name when nothing else gives one.
#pragma once

#include "analysis/input/byte_source.h"
#include "analysis/input/xspace_index.h"

// Indexes the open file; names are copied into `arena`. An empty file is an index of nothing. On false, *error is the
// first thing that is wrong, and *index still holds every plane and program that is whole: a file that was cut, or has
// one bad plane, loses only what is not there. (A plane that is cut is listed with the size that is there.)
MUST_USE bool xspace_index_read(struct byte_source *source, struct arena *arena, struct xspace_index *index,
                                struct error *error);

// The same for a file that is one HloProto.
MUST_USE bool xspace_index_hlo_file(struct byte_source *source, struct arena *arena, struct xspace_index *index,
                                    struct error *error);
