// How much VMEM the most demanding instruction reserves for itself, beside the heap simulation.
//
// Read from the instructions' backend_config (JSON): the largest used_scoped_memory_configs[].size whose memory_space
// is 1, numbers or strings (GetMaxScopedVmemAllocation in xprof/convert/hlo_proto_to_memory_visualization_utils.cc,
// openxla/xprof a27d00aa). Read as it stands, without a tree (server/text/json_scan.h): a configuration may be of any
// size.
#pragma once

#include "analysis/hlo/hlo_module.h"

struct scoped_vmem {
    int64_t bytes;             // 0 when no instruction reserves any
    struct bytes instruction;  // view into the module
};

// Zero for every memory space but VMEM (1): XProf shows it there only.
struct scoped_vmem scoped_vmem_find(const struct hlo_module *module, int64_t space);
