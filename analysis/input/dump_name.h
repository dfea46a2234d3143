// What the name of a file that --xla_dump_to left says (xla/service/dump.cc in openxla/xla).
//
//     [1700000000123456.]module_0039.jit_train_step.cl_987654321.after_optimizations-buffer-assignment.txt[.gz]
//      timestamp                number  name           variant      stage            part
//     '-------------------------- stem -------------------------'
//
// What belongs to one compile has one stem. A backend may put its name before the stage instead of a variant:
// "jit_f.cpu_after_optimizations", "jit_f.sm_9.0_gpu_after_optimizations". The name may be missing (module_0039.after_
// optimizations.txt), where XLA found the whole too long for the file system. Views into the name; reads no file.
#pragma once

#include "proto/bytes.h"

enum dump_part {
    DUMP_PART_NONE,          // no file of a dump
    DUMP_PART_OTHER,         // one of another stage, or of no use here
    DUMP_PART_PROTO,         // after_optimizations.hlo.pb: the program with its buffer assignment
    DUMP_PART_ASSIGNMENT,    // after_optimizations-buffer-assignment.txt
    DUMP_PART_PROGRAM,       // after_optimizations.txt: the instructions
    DUMP_PART_VALUES,        // after_optimizations-buffer-assignment-values.txt: every value's instruction
    DUMP_PART_LIVE_RANGE,    // after_optimizations-live-range.txt
    DUMP_PART_REPORT_PROTO,  // after_optimizations-memory-usage-report.pb
    DUMP_PART_REPORT_TEXT,
    DUMP_PART_OOM_PROTO,  // oom_intermediate_module.hlo.pb: what did not fit, without buffers
    DUMP_PART_OOM_TEXT,
};

struct dump_name {
    enum dump_part part;
    struct bytes stem;    // up to the stage, "." or "_" included
    struct bytes module;  // "jit_train_step"; "module" where the name is missing
    uint64_t number;
    bool compressed;
};

struct dump_name dump_name_parse(struct bytes file_name);

// What follows the stem in the name of a part, without .gz: "after_optimizations.hlo.pb". "" for NONE and OTHER.
const char *dump_part_ending(enum dump_part part);
