#include "server/command/report_errors.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/input/growing_array.h"
#include "server/text/printable.h"

void report_errors_add(struct report_errors *errors, const struct error *error) {
    struct error *grown = growing_array_room(errors->arena, errors->items, errors->count, sizeof *grown);
    if (!grown) {
        errors->lost++;
        return;
    }
    errors->items = grown;
    grown[errors->count++] = *error;
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
