// What a trend tells of one file or program, kept in the cache by version (file_store.h): some kilobytes for each, so
// that a second look at thousands of sessions reads none of them again.
//
//     "trend of program <space> <by> <frameworks> <the module's key>"  ──> peak, total, who holds it
//     "trend of profile <version> <path>"                              ──> the same of each memory of the file
//     "trend of arrays <version> <path>"                               ──> the same of a device memory profile
//
// What they are made of is loaded past the cache: what somebody looks at stays there. Valid until the work ends; NULL:
// *error is filled.
#pragma once

#include "analysis/compare/memory_trend.h"
#include "server/store/module_store.h"
#include "server/trend/trend_question.h"

MUST_USE const struct trend_figures *trend_figures_of_program(struct work *work, const struct found_module *found,
                                                              const struct trend_question *question,
                                                              struct error *error);

struct trend_memory {
    const char *memory_id;
    struct trend_figures figures;
};

struct trend_memories {  // of one host; by memory id
    struct trend_memory *list;
    uint32_t count;
};

MUST_USE const struct trend_memories *trend_figures_of_profile(struct work *work, const struct input_file *file,
                                                               struct error *error);
MUST_USE const struct trend_figures *trend_figures_of_arrays(struct work *work, const struct input_file *file,
                                                             struct error *error);
