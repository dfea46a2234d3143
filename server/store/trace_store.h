// What the files of a session hold besides programs (trace_contents.h), looked at once for each version of a file.
//
//     "contents <version> <path>"  ──> whether it tells memory over time, and its devices (file_store.h)
#pragma once

#include "analysis/input/trace_contents.h"
#include "server/store/file_store.h"

// Of a file that was looked at. NULL when it cannot be read at all: *error is filled. Valid until the work ends.
MUST_USE const struct trace_contents *trace_store_contents(struct work *work, const struct input_file *file,
                                                           struct error *error);
