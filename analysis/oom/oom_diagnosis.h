// Why it ran out, and what to do: the scenario with its reason in numbers, causes, fixes.
//
//     1   TensorCore and SparseCore together      2   one allocation over half of the capacity
//     3   the sum; the letter says where to begin: A configuration, B architecture and sharding, C padding, D flags,
//         E rematerialization, F look closer
//
// Without a program fixes are what the message suggests, the likeliest first; oom_advised.h puts figures to them.
// The scenarios are those of openxla.org/xla/errors E1000, for HBM; other memory spaces and kinds have none. A program
// that could not be loaded (0101) is too big for the free memory, or the free memory is in pieces.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/advice/change.h"

enum { OOM_CAUSES_MAX = 12, OOM_FIXES_MAX = 24 };

struct oom_fix {
    struct change change;
    const struct advice_item *prediction;  // what it would bring; NULL: nothing predicts it
};

struct oom_excluded {  // a change that the program rules out
    struct change change;
    const char *why;
};

struct oom_diagnosis {
    const char *scenario;         // "1", "2", "3", "3A" ...; NULL: none applies
    const char *scenario_reason;  // NULL without a scenario
    const char *cause;            // "program_too_big", "fragmented"; NULL
    const char *causes[OOM_CAUSES_MAX];
    size_t cause_count;
    struct oom_fix fixes[OOM_FIXES_MAX];
    size_t fix_count;
    struct oom_excluded excluded[OOM_FIXES_MAX];
    size_t excluded_count;
    const char *disagreements[OOM_CAUSES_MAX];  // between the message and the buffers
    size_t disagreement_count;
};
