// The programs in one "/host:metadata" plane.
//
//     event_metadata { id, name "jit_f(36)", stats [ {metadata_id: 7, bytes_value: HloProto}, {9, uint64: 36} ] }
//     stat_metadata  { 7: "Hlo Proto" }  { 9: "program_id" }            may stand before or after: two walks
//
// In a plane that is cut the stat names, which come last, are missing; then a bytes stat is a program when it begins as
// an HloProto of the module that the event_metadata is named after.
#pragma once

#include "analysis/input/file_cursor.h"
#include "analysis/input/xspace_index.h"

// Appends to index->programs. On false the programs before the fault have been added.
MUST_USE bool metadata_plane_read(struct byte_source *source, const struct file_field *plane, struct arena *arena,
                                  struct xspace_index *index, struct error *error);

// Finds HloProto.hlo_module.name; `name` is an empty field when the message has none.
MUST_USE bool metadata_plane_module_name(struct byte_source *source, uint64_t offset, uint64_t size_bytes,
                                         struct file_field *name, struct error *error);
