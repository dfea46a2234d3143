// The out-of-memory messages of a log: of ten megabytes of noise, the few entries that matter.
//
//     log ──> text (oom_text.h) ──> anchors, in order ──> a parser each ──> again? counted
//
//     ... Ran out of memory in memory space hbm. Used ... | noise | Allocation (size= ... |
//         ^ strong anchor: a message begins       ^ weak: only where no strong one is near before it
//
// The text is looked through once; a parser sees it up to the next strong anchor, so the whole is linear. A message
// that was repeated (per host, per retry, or quoted by the exception that wraps it) is one entry with a count, and one
// that was cut joins the whole one it agrees with. What an allocator logged right before an exception joins that.
#pragma once

#include "analysis/oom/oom_message.h"

enum { OOM_MESSAGES_MAX = 64 };  // different ones

struct oom_log {
    struct oom_message *messages;  // in the order of the log
    size_t message_count;
    size_t left_out;  // messages beyond OOM_MESSAGES_MAX
};

// Reads `log` (borrowed); strings are on `arena`. A log without messages gives none. ERROR_TOO_BIG: see oom_text.h.
MUST_USE bool oom_log_read(struct bytes log, struct arena *arena, struct oom_log *found, struct error *error);
