// XProf's answer for tag=memory_viewer: the JSON of its PreprocessResult, field for field.
//
// Built from a view that is made as XProf makes it (MEMORY_VIEW_AS_XPROF). Like protobuf's JSON, zero and empty scalars
// are left out, map keys and int64 are strings. Small buffers (under 16 KiB) are one bar "small (<16384 bytes)". The
// order of indefinite buffers, which in XProf hangs on a hash table, is by allocation; colours are ours.
#pragma once

#include "analysis/memory/memory_view.h"
#include "server/text/json_writer.h"
#include "server/store/scoped_vmem.h"

// Writes the document. `scratch` takes what is made on the way. False when that is at its limit.
MUST_USE bool xprof_memory_viewer_write(const struct memory_view *view, struct scoped_vmem scoped_vmem,
                                        struct arena *scratch, struct json_writer *w, struct error *error);
