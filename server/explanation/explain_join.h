// The program that a message is about, among the sessions of a log directory.
//
//     "HLO module: jit_h" ──> sessions, newest first ──> jit_h(1), jit_h(7) ──> that of the nearest total
//
// A name like jit_train_step stands in many sessions, so where the message says how much was needed, a module counts
// only when its total is within a tenth of that; a session that was asked for by name counts in any case, and then the
// disagreement is told. At most EXPLAIN_CANDIDATES_MAX modules are loaded and EXPLAIN_SESSIONS_MAX sessions searched.
// What cannot be read is passed over: a join is a help, its absence no error. Messages about one program share its
// join, so that it is read and advised on once, however often a log tells of it.
#pragma once

#include "analysis/oom/oom_evidence.h"
#include "analysis/oom/oom_message.h"
#include "server/explanation/explain_advice.h"
#include "server/store/module_list.h"

enum { EXPLAIN_CANDIDATES_MAX = 24, EXPLAIN_SESSIONS_MAX = 500 };

struct explain_join {
    struct explain_join *next;  // of the same log
    struct found_module found;
    const char *session, *host, *module;  // "jit_h(1)"
    int64_t space;
    const struct hlo_module *program;  // valid while the work lives
    struct oom_evidence evidence;
    const struct advice *advice;  // NULL: none can be made
};

struct explain_session {
    struct explain_session *next;
    const char *asked, *name;
    struct module_list modules;  // none where it cannot be read
};

struct explain_joins {  // of one log
    struct work *work;
    struct store *store;
    const char *session, *module;  // NULL: any; the message's own
    struct explain_join *made;
    struct explain_session *sessions;  // those that were searched: once for all messages
};

// NULL: no module fits. On the work's arena.
const struct explain_join *explain_join(struct explain_joins *joins, const struct oom_message *message);

// The page's address of the joined module, or of one of its buffers (-1: none). On `arena`, NULL at its limit.
const char *explain_link(const struct explain_join *join, int64_t logical_buffer_id, struct arena *arena);
