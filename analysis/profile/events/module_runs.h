// Runs of compiled programs: the line "XLA Modules" of the planes "/device:TPU:N" (XProf:
// xprof/convert/xplane_to_memory_profile.cc).
#pragma once

#include "analysis/input/byte_source.h"
#include "analysis/input/xspace_index.h"

// One run of a compiled program on one device: the line "XLA Modules" of a TPU's plane.
struct module_run {
    struct bytes name;    // "jit_train_step(1234567)"
    struct bytes device;  // "TPU:0"
    int64_t begin_ps, end_ps;
    int64_t line_begin_ps;  // of its line: XProf's times are relative to it
};

struct module_run_list {
    struct module_run *runs;  // times as in the file: nanoseconds of the line's start in line_begin_ps, see below
    int64_t *line_begin_ns;   // by run
    size_t count;
};

enum { MODULE_RUNS_MAX = 1 << 22 };

// Reads the runs of all planes in file order onto `arena`; begin_ps and end_ps are relative to their line. False:
// *error is the first fault, and the list holds what stands before it.
MUST_USE bool module_runs_read(struct byte_source *source, const struct xspace_index *index, struct arena *arena,
                               struct module_run_list *list, struct error *error);
