// When values live, from a -live-range.txt. Private to hlo_text_*.
//
//     HloLiveRange (max 11):
//       InstructionSequence:
//         1:copy-start                     instructions[1]
//       BufferLiveRange:
//         copy-start{0}:1-9                spans[value "copy-start{0}"] = {1, 9}, both included
//       Live ranges at 6 (peak):           and what follows is not read: it is made of the above
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/base/text_writer.h"
#include "analysis/hlo/hlo_text_assignment.h"

enum { HLO_TEXT_NEVER = -1, HLO_TEXT_TIMES_MAX = 1 << 26 };

struct hlo_text_span {
    int64_t start, end;  // HLO_TEXT_NEVER: the text does not name the value
};

struct hlo_text_live_range {
    struct hlo_text_span *spans;  // one for each value of the assignment
    struct bytes *instructions;   // by time; empty where the text has none
    size_t time_count;
};

MUST_USE bool hlo_text_read_live_range(const struct hlo_text_file *file, const struct hlo_text_assignment *assignment,
                                       struct arena *arena, struct hlo_text_live_range *range, struct error *error);

// Writes one HeapSimulatorTrace for each temporary allocation. False at the arena's limit.
MUST_USE bool hlo_text_encode_traces(const struct hlo_text_assignment *assignment,
                                     const struct hlo_text_live_range *range, struct arena *arena,
                                     struct text_writer *w);
