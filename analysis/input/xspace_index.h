// Where things are in one *.xplane.pb, without loading them.
//
//     XSpace [ plane "/host:metadata" [event_metadata{name, stats[Hlo Proto = blob]}]* | plane "/host:CPU" ... | ... ]
//                                                           ^ offset, size, name, program id: one program each
//
// The walk reads keys and lengths, skips every plane but "/host:metadata" by its length, and inside that plane skips
// the blobs. So a 400 MB trace costs a few preads. An HloProto stat is a bytes stat named "Hlo Proto", "HLO Proto" or
// "hlo_proto" (old libtpu; xprof/utils/xplane_hlo_fixer.cc); the program id is the stat `program_id`, else the number
// in the event_metadata's name, else its id; the program's name is "module(program id)" (xprof/convert/xplane_to_hlo.cc
// and xprof/utils/hlo_proto_map.cc in openxla/xprof).
// A *.hlo_proto.pb or *.hlo.pb is indexed alike: it is one program, named after the file (XProf's cache names) or the
// module inside.
// Does not read the HloProto, but for its module's name when nothing else gives one. Immutable after building; may be
// shared between threads.
#pragma once

#include "analysis/input/byte_source.h"

struct xspace_program {
    struct bytes name;         // "jit_train_step(36)"
    struct bytes module_name;  // "jit_train_step"
    int64_t program_id;        // the bits of an unsigned id; meaningless without has_program_id
    bool has_program_id;       // false only for an HLO file whose name tells none
    uint64_t offset;           // the HloProto's place in the (uncompressed) file
    uint64_t size_bytes;
};

struct xspace_plane {
    struct bytes name;
    uint64_t offset;  // of the XPlane message
    uint64_t size_bytes;
};

struct xspace_index {
    struct xspace_program *programs;  // in file order; the first of equal names wins, later ones are counted below
    size_t program_count;
    size_t duplicate_count;
    struct xspace_plane *planes;
    size_t plane_count;
    struct bytes *warnings;  // XSpace.errors and XSpace.warnings: what the profiler itself said
    size_t warning_count;
    size_t warnings_left_out;  // beyond XSPACE_MAX_WARNINGS
};

// Limits against hostile files; passing one is ERROR_TOO_BIG.
enum {
    XSPACE_MAX_PLANES = 1 << 16,
    XSPACE_MAX_PROGRAMS = 1 << 20,
    XSPACE_MAX_WARNINGS = 1 << 10,
    XSPACE_MAX_NAME_BYTES = 64 << 10,
};

// Indexes the open file; names are copied into `arena`. An empty file is an index of nothing. On false, *error is the
// first thing that is wrong, and *index still holds every plane and program that is whole: a file that was cut, or has
// one bad plane, loses only what is not there. (A plane that is cut is listed with the size that is there.)
MUST_USE bool xspace_index_read(struct byte_source *source, struct arena *arena, struct xspace_index *index,
                                struct error *error);

// The same for a file that is one HloProto.
MUST_USE bool xspace_index_hlo_file(struct byte_source *source, struct arena *arena, struct xspace_index *index,
                                    struct error *error);
