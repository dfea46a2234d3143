// What devices have, by the names that people and profilers give them: the one table of it.
//
//     "v5e"  "tpu V5E"  "TPU v5 lite"  ->  TPU v5e, 15.75GiB as the compiler says
//     "A100-80GB"  "nvidia a100 80 gb" ->  A100 80 GB, 80GiB as sold
//
// A TPU's figure is the "of N hbm" of real out-of-memory messages of libtpu: what a program may use there, of one JAX
// device (a core of v2, v3 and v7x, a chip of the others: v4 has two cores as one). A GPU's is that of its data sheet;
// driver and runtime keep some of it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The part of a GPU's memory that XLA takes by itself.
#define DEVICE_GPU_PART 0.75

struct device_kind {
    const char *name;
    const char *capacity;    // as a person writes it; size_text_read reads it
    bool is_of_compiler;     // else of the vendor
    const char *other_name;  // what the profiler calls it where that is another name; NULL
};

extern const struct device_kind device_kinds[];
extern const size_t device_kind_count;

// Blanks, dashes, underscores, case and a leading "nvidia", "tesla" or "tpu" do not matter; a beginning will do where
// only one kind begins so ("H2"). NULL: no kind, or several ("A100", "v5").
const struct device_kind *device_kind_named(const char *text);

// What a profile calls the type of its device: there "TPU v5" is a v5p.
const struct device_kind *device_kind_of_profile(const char *type);

int64_t device_kind_bytes(const struct device_kind *kind);

// What XLA may use of that unless it is told otherwise: of a TPU all of the compiler's figure, of a GPU three quarters
// (xla/pjrt/plugin/xla_gpu/xla_gpu_allocator_config.h: memory_fraction = 0.75; XLA_PYTHON_CLIENT_MEM_FRACTION).
double device_kind_usable_part(const struct device_kind *kind);
int64_t device_kind_usable_bytes(const struct device_kind *kind);

// A capacity as a person gives it: a size (size_text.h) or the name of a device. False: it is neither.
bool device_capacity_read(const char *text, int64_t *bytes);
