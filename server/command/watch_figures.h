// The figures of one line of `hbmview watch`: what a program needs, what an allocator had at its peak, what arrays held
// when a device memory profile was taken.
//
// Each fills peak, total, and who holds the most; texts live as long as the work. False: *error is filled.
#pragma once

#include "server/command/watch_line.h"
#include "server/store/module_store.h"

// *is_empty: it holds nothing in any memory space. Of several spaces HBM, or the one with the highest peak.
MUST_USE bool watch_program_figures(struct work *work, const struct input_file *file,
                                    const struct xspace_program *program, struct watch_line *line, bool *is_empty,
                                    struct error *error);

// The memory that its devices have, as the file tells it; 0 where it does not, or differs.
int64_t watch_capacity_of(struct work *work, const struct input_file *file);

struct memory_profile;
struct memory_timeline;

// *is_empty: no event tells what was in use.
void watch_memory_figures(const struct memory_profile *profile, const struct memory_timeline *timeline,
                          struct watch_line *line, bool *is_empty);

MUST_USE bool watch_device_memory_figures(struct work *work, const struct input_file *file, struct watch_line *line,
                                          struct error *error);
