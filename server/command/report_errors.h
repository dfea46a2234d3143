// What could not be read: gathered while the report runs, told at its end, where nothing scrolls it away.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "server/text/known_names.h"

struct report_errors {
    struct arena *arena;
    struct error *items;
    size_t count;
    size_t lost;  // no memory to keep these
};

// A copy of `error`.
void report_errors_add(struct report_errors *errors, const struct error *error);

// The same of what was found in a file. Returns false.
bool report_errors_add_in(struct report_errors *errors, const struct error *error, const char *file, uint64_t offset);

// An error about a file, or of none (NULL). Returns false.
__attribute__((format(printf, 4, 5))) bool report_errors_say(struct report_errors *errors, enum error_code code,
                                                             const char *file, const char *format, ...);

// One line each: "hbmview: FILE: message (at byte N)".
void report_errors_print(const struct report_errors *errors);

static inline bool report_errors_any(const struct report_errors *errors) {
    return errors->count + errors->lost > 0;
}
