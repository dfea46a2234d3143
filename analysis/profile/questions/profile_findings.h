// What somebody should know first of one memory: a few findings, the heaviest first, each with the event that shows it.
//
//     summary     -----\                    FAILED      4 requests above 16 MiB      -> the silence at 278 ms
//     breakdown   ------\   (what others    LEAK        "Relu", 1 MiB a step         -> the end of the last step
//     growth      ------/    found out)     PEAK        15.89 MiB in step 11         -> the event of the peak
//     pressure    -----/                    HOLDER      "Relu", 69 % of the peak     -> its first allocation
//
// Nothing is guessed: a finding repeats figures of the questions that it is made of, and says nothing where they know
// nothing. No words: server/document/findings_document.h has them.
#pragma once

#include "analysis/profile/questions/memory_breakdown.h"
#include "analysis/profile/questions/memory_pressure.h"
#include "analysis/profile/questions/step_growth.h"
#include "analysis/profile/questions/timeline_summary.h"

// In order of weight: failures, then what may become one, then facts.
enum finding_kind {
    FINDING_FAILED,           // `count` requests above `bytes` failed
    FINDING_PIECES,           // the largest request, `bytes`, would fit into all that is free, but not into one piece
    FINDING_TIGHT,            // after `count` events the largest request, `bytes`, would not have fitted
    FINDING_LEAK,             // `op` grows from step to step (step_growth_worst), by `bytes`
    FINDING_PEAK,             // `bytes` in use, `share` of the capacity where that is known
    FINDING_HOLDER,           // `op` holds `bytes` of the heap at the peak, `share` of it, in `count` allocations
    FINDING_UNSEEN,           // `bytes` of the heap at the peak, `share` of it, nobody saw allocated
    FINDING_PEAK_FRAGMENTED,  // at the peak, `share`, in a memory that was tight at some time
    FINDING_ROUNDED,          // `bytes` were allocated, `share` of what was requested
    FINDING_KIND_COUNT,
};

enum { PROFILE_FINDINGS_MAX = FINDING_KIND_COUNT };

// From where on something is worth a sentence: of the heap at the peak; of what is free; of what was requested, when
// the rest is so much of the peak.
enum {
    FINDING_HOLDER_PERCENT = 10,
    FINDING_UNSEEN_PERCENT = 10,
    FINDING_FRAGMENTED_PERCENT = 25,
    FINDING_ROUNDED_PERCENT = 125,
    FINDING_ROUNDED_OF_PEAK_PERCENT = 10
};

struct profile_finding {
    enum finding_kind kind;
    uint32_t row;            // the event that shows it
    int64_t time_ps, step;   // of that event
    int64_t from_ps, to_ps;  // the window to look at; empty (from = to): whatever is in sight
    struct bytes op;         // "" of none
    int64_t bytes;
    uint32_t count;
    double share;  // below 0: not known
    bool is_sure;  // FAILED: each silence was as long as the allocator tries again; UNSEEN: before the first event
};

// Of one memory: what the findings are made of. The breakdown is that of the peak.
struct profile_evidence {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    const struct timeline_summary *summary;
    const struct memory_breakdown *breakdown;
    const struct step_growth *growth;
    const struct memory_pressure *pressure;
};

struct profile_findings {
    struct profile_finding items[PROFILE_FINDINGS_MAX];
    size_t count;
};

// The timeline must have events. What is needed meanwhile is on `arena`.
MUST_USE bool profile_findings_make(const struct profile_evidence *evidence, struct arena *arena,
                                    struct profile_findings *findings, struct error *error);
