// What could not be read: gathered while the report runs, told at its end, where nothing scrolls it away.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"

struct report_errors {
    struct arena *arena;
    struct error *items;
    size_t count;
    size_t lost;  // no memory to keep these
};

// A copy of `error`.
void report_errors_add(struct report_errors *errors, const struct error *error);

// One line each: "hbmview: FILE: message (at byte N)".
void report_errors_print(const struct report_errors *errors);

static inline bool report_errors_any(const struct report_errors *errors) {
    return errors->count + errors->lost > 0;
}
