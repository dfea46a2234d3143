// The program that a message is about, with all that is known of it: buffers, who holds them, advice.
//
//     message ──> explain_search.h ──> program ──> evidence, holders at the peak, advice
//
// Messages about one program share its join, so that it is read and advised on once, however often a log tells of it.
#pragma once

#include "analysis/oom/oom_evidence.h"
#include "analysis/oom/oom_holders.h"
#include "server/explanation/explain_advice.h"
#include "server/explanation/explain_search.h"

struct explain_join {
    struct explain_join *next;  // of the same log
    struct found_module found;
    const char *session, *host, *module;  // "jit_h(1)"
    int64_t space;
    const struct hlo_module *program;  // valid while the work lives
    struct oom_evidence evidence;
    struct oom_holders holders;
    const struct advice *advice;  // NULL: none can be made
};

struct explain_joins {  // of one log
    struct explain_sessions sessions;
    struct explain_search_for asked;
    struct explain_join *made;
};

// NULL: no program fits, or it cannot be read; `told` says how it was looked for, the sessions what is unreadable. On
// the work's arena.
const struct explain_join *explain_join(struct explain_joins *joins, const struct oom_message *message,
                                        struct explain_search *told);

// The page's address of the joined module, or of one of its buffers (-1: none). On `arena`, NULL at its limit.
const char *explain_link(const struct explain_join *join, int64_t logical_buffer_id, struct arena *arena);
