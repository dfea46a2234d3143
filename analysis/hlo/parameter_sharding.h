// How the arguments of a partitioned program lie on its chips, as the HLO says it.
//
//     HloModuleProto  14 spmd_parameters_shardings   one OpSharding a parameter: REPLICATED, OTHER, ...
//                     15 device_assignment           computation_count: over how many partitions
//
// The sizes in a partitioned module are those of one chip. A replicated argument is held whole by every chip: divided
// over the partitions it would take its share only. (openxla/xla: xla/service/hlo.proto, xla/xla_data.proto)
#pragma once

#include "analysis/hlo/hlo_module.h"

enum parameter_sharding { SHARDING_UNKNOWN, SHARDING_REPLICATED, SHARDING_DIVIDED };

// How many partitions the program has; 1 when the module does not say.
int64_t partition_count(const struct hlo_module *module);

enum parameter_sharding parameter_sharding_of(const struct hlo_module *module, int64_t parameter_number);
