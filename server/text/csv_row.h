// One row of CSV (RFC 4180, lines end in LF), field by field.
//
//     struct csv_row row = {.output = output};      vm,"a, ""b""",12
//
// A field is quoted where it must be. What is not UTF-8, and NUL, becomes U+FFFD.
#pragma once

#include "server/text/output.h"

struct csv_row {
    struct output *output;
    bool needs_comma;
};

void csv_put_text(struct csv_row *row, struct bytes text);
void csv_put_number(struct csv_row *row, int64_t number);
void csv_end_row(struct csv_row *row);
