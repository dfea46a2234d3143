// Where things are in one *.xplane.pb, without loading them.
//
//     XSpace [ plane "/host:metadata" [event_metadata{name, stats[Hlo Proto = blob]}]* | plane "/host:CPU" ... | ... ]
//                                                           ^ offset, size, name, program id: one program each
//
// A file that is one HloProto is indexed alike: as one program, named after the file (XProf's cache names) or the
// module inside. Made by xspace_read.h; immutable after building, so threads may share it. Texts lie on the builder's
// arena.
#pragma once

#include "proto/bytes.h"

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
