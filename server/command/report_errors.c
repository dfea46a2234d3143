#include "server/command/report_errors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "analysis/base/growing_array.h"
#include "server/text/printable.h"

void report_errors_add(struct report_errors *errors, const struct error *error) {
    if (!growing_array_add(errors->arena, errors->items, errors->count, *error)) errors->lost++;
}

bool report_errors_add_in(struct report_errors *errors, const struct error *error, const char *file, uint64_t offset) {
    struct error placed = *error;
    error_in_file(&placed, file, (int64_t)offset);
    report_errors_add(errors, &placed);
    return false;
}

bool report_errors_say(struct report_errors *errors, enum error_code code, const char *file, const char *format, ...) {
    struct error error;
    va_list arguments;
    error_set(&error, code, "%s", "");
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    if (file) error_in_file(&error, file, 0);
    report_errors_add(errors, &error);
    return false;
}

static void print(const struct error *error, struct arena *scratch) {
    const char *file = printable_text(bytes_of(error->file), scratch);
    const char *message = printable_text(bytes_of(error->message), scratch);
    fprintf(stderr, "hbmview: %s%s%s", file, file[0] ? ": " : "", message);
    if (error->offset >= 0) fprintf(stderr, " (at byte %" PRId64 ")", error->offset);
    fputc('\n', stderr);
}

void report_errors_print(const struct report_errors *errors) {
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t i = 0; i < errors->count; i++) print(&errors->items[i], &scratch);
    if (errors->lost) fprintf(stderr, "hbmview: there is no memory left to tell of %zu more problems.\n", errors->lost);
    arena_free(&scratch);
}
