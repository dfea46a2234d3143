#include "server/text/csv_row.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/text/utf8.h"

static void separate(struct csv_row *row) {
    if (row->needs_comma) output_append_char(row->output, ',');
    row->needs_comma = true;
}

static bool needs_quotes(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        if (strchr(",\"\r\n", text.data[i])) return true;  // and NUL
    }
    return text.size > 0 && (text.data[0] == ' ' || text.data[text.size - 1] == ' ');
}

static size_t put_character(const uint8_t *at, size_t left, struct output *output) {
    struct utf8_step step = utf8_next(at, left);
    if (*at == '"') output_append_char(output, '"');
    output_append(output, step.is_valid && *at ? (struct bytes){at, step.size} : BYTES("\xEF\xBF\xBD"));
    return step.size;
}

void csv_put_text(struct csv_row *row, struct bytes text) {
    bool is_quoted = needs_quotes(text);
    separate(row);
    if (is_quoted) output_append_char(row->output, '"');
    for (size_t at = 0; at < text.size;) at += put_character(text.data + at, text.size - at, row->output);
    if (is_quoted) output_append_char(row->output, '"');
}

void csv_put_number(struct csv_row *row, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    csv_put_text(row, bytes_of(digits));
}

void csv_end_row(struct csv_row *row) {
    output_append_char(row->output, '\n');
    row->needs_comma = false;
}
