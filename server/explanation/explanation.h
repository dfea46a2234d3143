// A log explained: each message with its diagnosis and, where a profile holds the program, with its buffers.
//
//     log ──> messages ──> for each: join (module of that name and size) ──> evidence ──> diagnosis
//
// Everything lives as long as the work. Without a store, and for a message that no module fits, there is no join.
#pragma once

#include "analysis/oom/oom_diagnose.h"
#include "analysis/oom/oom_log.h"
#include "server/explanation/explain_advice.h"
#include "server/explanation/explain_join.h"

struct explained {
    const struct oom_message *message;
    const struct explain_join *join;  // NULL: none
    struct oom_diagnosis diagnosis;
    const struct advice *advice;  // of the joined program; NULL: none
};

struct explanation {
    struct oom_log log;
    struct explained *items;  // one for each message of the log
};

struct explain_request {
    struct bytes log;
    const char *session;     // NULL: any
    const char *module;      // NULL: the message's own
    int64_t capacity_bytes;  // OOM_ABSENT: the message's own
};

// `store` may be NULL. False when the log is too large; a log without messages gives an empty explanation.
MUST_USE bool explanation_make(struct work *work, struct store *store, const struct explain_request *asked,
                               struct explanation *explanation, struct error *error);
