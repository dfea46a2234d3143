// Which devices hold the program as it is, or as it would be: the TPUs or GPUs of device_kinds.h, whichever it was
// compiled for, by what XLA may use of their capacity alone.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/base/arena.h"

// How many hold so many bytes, their names into `names` (device_kind_count of them fit). 0 too where the program is for
// neither.
size_t advice_holding_devices(const struct advice *advice, int64_t bytes, const char **names);

// "TPU v5p, TPU v7x"; empty where none is known. On `arena`.
const char *advice_holding_text(const struct advice *advice, int64_t bytes, struct arena *arena);

// "As it is, one of these holds it: TPU v5p, TPU v7x."; empty where the program is for neither. On `arena`.
const char *advice_holding_sentence(const struct advice *advice, struct arena *arena);
