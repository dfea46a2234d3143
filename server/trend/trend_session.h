// One point of a trend: what its session, or file, says of the subject.
#pragma once

#include "server/store/store.h"
#include "server/trend/trend_point.h"

// The names of what could be asked about, as one point found them; on the work's arena.
struct trend_seen {
    struct bytes *names;
    uint32_t count;
};

// Fills state, figures and the rest of the point, for the subject; notes what there is to ask about.
void trend_point_read(struct store *store, struct work *work, const struct trend_question *question,
                      struct bytes subject, struct trend_point *point, struct trend_seen *seen);

// The largest of the session: the module whose HLO is, the memory with the highest peak. Empty: there is none.
struct bytes trend_session_subject(struct store *store, struct work *work, const struct trend_question *question,
                                   const char *session);

// What a module is called without the number of its process: "jit_f" of "jit_f(39)".
struct bytes trend_module_name(struct bytes name);
