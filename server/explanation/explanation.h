// A log explained: each message with its diagnosis and, where a profile holds the program, with its buffers.
//
//     log, or .gz --> messages --> for each: join (module of that name and size) --> evidence --> diagnosis
//
// Everything lives as long as the work. Without a store, and for a message that no module fits, there is no join.
#pragma once

#include "analysis/oom/oom_diagnose.h"
#include "analysis/oom/oom_log.h"
#include "server/explanation/explain_advice.h"
#include "server/explanation/explain_join.h"
#include "server/explanation/explain_loaded.h"

struct explained {
    const struct oom_message *message;
    const struct explain_join *join;  // NULL: none
    struct explain_search search;     // how it was looked for
    bool is_same_size;                // the joined program's size fits the message: its figures are used
    int64_t capacity_bytes;           // asked for, else the message's; OOM_ABSENT
    struct oom_holders holders;       // of the joined program, else of the message's list
    struct oom_loaded loaded;         // programs of its session; without one for what is no 0101
    struct oom_diagnosis diagnosis;
    const struct advice *advice;  // of the joined program; NULL: none
};

// What the program or the request needs: the message's figure, else the joined program's. OOM_ABSENT: unknown.
int64_t explained_needed_bytes(const struct explained *item);

// How much of that the capacity lacks; OOM_ABSENT: it does not, or it is unknown.
int64_t explained_over_bytes(const struct explained *item);

struct explanation {
    struct oom_log log;
    const char *broken;                     // why the rest of a compressed log could not be read; NULL: it could
    struct explained *items;                // one for each message of the log
    const struct input_remark *unreadable;  // what could not be read where programs were looked for
    size_t unreadable_count;
};

struct explain_request {
    struct bytes log;
    const char *session;     // NULL: any
    const char *preferred;   // session to look at first; NULL: none
    const char *module;      // NULL: the message's own
    int64_t capacity_bytes;  // OOM_ABSENT: the message's own
};

// `store` may be NULL. False when the log is too large; a log without messages gives an empty explanation.
MUST_USE bool explanation_make(struct work *work, struct store *store, const struct explain_request *asked,
                               struct explanation *explanation, struct error *error);
