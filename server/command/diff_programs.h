// Which program of one path is which of another.
//
//     A   jit_train(1) 10.8   jit_eval(2) 3.1   jit_init(3) 0.2
//              |                   |
//     B   jit_train(7)  5.0   jit_eval(2) 3.2                     jit_warm(4) 1.0
//         ^ compared          ^ the others, and those without a partner: a row each
//
// By the whole name, then by the name of the module, the largest with the largest. Compared in detail is the largest of
// A that has a partner; where the largest of both have none, these two. Lives on the caller's arena.
#pragma once

#include "server/command/report_overview.h"
#include "server/document/diff_document.h"

struct diff_programs {  // of one path, the largest first
    struct report_overview_row *rows;
    size_t count;
};

struct diff_pair {
    const struct report_overview_row *a, *b;  // NULL: it has no partner
};

struct diff_pairs {
    struct diff_pair *list;  // those of A first, each the largest first
    size_t count;
    const struct diff_pair *compared;  // NULL: one of the paths has no program
};

// Looks at every program of the inventory; what cannot be read is among the report's errors. False at the arena's
// limit.
MUST_USE bool diff_programs_read(struct report *report, const struct report_inventory *inventory,
                                 struct diff_programs *programs);

MUST_USE bool diff_programs_pair(const struct diff_programs *a, const struct diff_programs *b, struct arena *arena,
                                 struct diff_pairs *pairs);

// The pairs that are not compared, with what they take in `space`. Lives on A's arena. False at its limit.
MUST_USE bool diff_programs_tell(const struct diff_pairs *pairs, struct report *a, struct report *b, int64_t space,
                                 struct diff_others *others);
