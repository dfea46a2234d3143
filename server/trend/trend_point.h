// One place of a trend: a session, or a device memory profile, and what it says of the subject.
//
//     ready    figures        absent, error    reason        pending    neither: nobody has looked yet
//
// Borrows from the work that it was read with.
#pragma once

#include "server/trend/trend_figures_store.h"

enum { TREND_NAMES_MAX = 1000 };

enum trend_state { TREND_PENDING, TREND_READY, TREND_ABSENT, TREND_ERROR };

struct trend_point {
    const char *session;
    const char *file;  // of a device memory profile; else NULL
    int64_t time_s;
    bool is_time_of_name;  // else that of the folder's, or the file's, last change
    enum trend_state state;
    const struct trend_figures *figures;  // of a point that is ready; else NULL
    const struct error *reason;           // of one that is absent or broken; else NULL
    const char *host;                     // "" where there is none
    struct bytes name;                    // "jit_f(1)", the memory id, the file
    uint32_t of;                          // how many in the session are called so
    struct found_module found;            // of a program
};
