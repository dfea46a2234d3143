// For which kind of device a program was compiled: asked once, of what only that compiler writes.
//
//     backend_config {"operation_queue_id": ...}                          XLA:GPU
//     temporaries in memory space 1, VMEM  |  f32[8,128]{1,0:T(8,128)}    libtpu: XLA:CPU and XLA:GPU tile no layout
//
// A program whose arguments fill the memory has next to no temporaries, and one of a text dump no buffers: layouts are
// there in any case. Neither: XLA:CPU, or a program that tells of no layouts.
#pragma once

#include "analysis/program/program_graph.h"

struct target {
    bool is_gpu, is_tpu;
    int64_t fast_bytes;  // temporaries of memory space 1, which is VMEM on a TPU; 0 on a GPU, where that is HBM
};

struct target target_of(const struct hlo_module *module, const struct program_graph *graph);
